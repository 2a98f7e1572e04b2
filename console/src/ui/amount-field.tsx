// The field for an amount in the merchant's currency. It reads the text as every form does, and explains a refusal.
import { useSession } from '../session/session.ts';
import { Field } from './field.tsx';
import { readAmount } from './format.ts';

type AmountFieldProps = {
  /** Shown before the currency. */
  readonly label?: string;
  readonly description?: string | undefined;
  readonly required?: boolean;
  /** The smallest amount. */
  readonly least?: 0 | 1;
  readonly value: string;
  /** The error of the service. */
  readonly error?: string | undefined;
  readonly onText: (text: string) => void;
};

export function AmountField({ label = 'Amount in', least = 1, value, error, ...field }: AmountFieldProps) {
  const { currency } = useSession().merchant;
  const read = readAmount(value, currency, { least });
  const isRefused = value.trim() !== '' && read.kind === 'refused';
  return (
    <Field
      {...field}
      label={`${label} ${currency}`}
      inputMode="decimal"
      autoComplete="off"
      value={value}
      error={isRefused ? read.message : error}
    />
  );
}
