// For how long an old secret stays valid beside the new one that replaces it.
import { NativeSelect } from '@mantine/core';

const HOUR_SECONDS = 3600;

type OverlapChoiceProps = {
  readonly label: string;
  readonly description: string;
  readonly hours: readonly number[];
  /** What “not at all” does. */
  readonly none: string;
  readonly seconds: number;
  readonly error: string | undefined;
  readonly onSeconds: (seconds: number) => void;
};

export function OverlapChoice({ label, description, hours, none, seconds, error, onSeconds }: OverlapChoiceProps) {
  const choices = hours.map((n) => ({ value: String(n * HOUR_SECONDS), label: n === 1 ? '1 hour' : `${n} hours` }));
  return (
    <NativeSelect
      label={label}
      description={description}
      data={[{ value: '0', label: `not at all: ${none}` }, ...choices]}
      value={String(seconds)}
      error={error}
      onChange={({ currentTarget }) => onSeconds(Number(currentTarget.value))}
    />
  );
}

export const ONE_DAY_SECONDS = 24 * HOUR_SECONDS;
