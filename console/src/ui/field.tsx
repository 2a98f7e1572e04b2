// One line of text from a person: plain, secret, or a code.
import { PasswordInput, TextInput, type TextInputProps } from '@mantine/core';

type FieldProps = Pick<
  TextInputProps,
  'label' | 'description' | 'error' | 'required' | 'maxLength' | 'autoComplete' | 'inputMode'
> & {
  readonly value: string;
  /** Whether it has the focus when a dialog opens. */
  readonly 'data-autofocus'?: boolean;
  readonly onText: (text: string) => void;
  /** `code`: digits from an app. `token`: pasted, without surrounding text. Passwords are as browsers fill them in. */
  readonly kind?: 'text' | 'email' | 'current-password' | 'new-password' | 'code' | 'token';
};

export function Field({ onText, kind = 'text', ...props }: FieldProps) {
  const isTrimmed = kind === 'code' || kind === 'token';
  const onChange = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
    onText(isTrimmed ? currentTarget.value.trim() : currentTarget.value);
  if (kind === 'current-password' || kind === 'new-password')
    return <PasswordInput {...props} autoComplete={kind} onChange={onChange} />;
  const code = kind === 'code' ? ({ inputMode: 'numeric', autoComplete: 'one-time-code' } as const) : {};
  const token = kind === 'token' ? { autoComplete: 'off', spellCheck: false } : {};
  return <TextInput {...code} {...token} type={kind === 'email' ? 'email' : 'text'} {...props} onChange={onChange} />;
}
