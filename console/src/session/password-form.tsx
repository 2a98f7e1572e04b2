// A form for acts that require the password, so that a stolen session is not enough for them.
import { Button, Stack } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { Field } from '../ui/field.tsx';
import { submitting, useAct } from '../ui/use-act.ts';

type PasswordFormProps = {
  /** The text of the button, which names the act. */
  readonly verb: string;
  readonly variant?: 'default' | 'filled';
  readonly color?: string;
  readonly act: (password: string) => Promise<unknown>;
  /** Fields above the password. */
  readonly children?: ReactNode;
};

export function PasswordForm({ verb, variant = 'filled', color, act, children }: PasswordFormProps) {
  const [password, setPassword] = useState('');
  const done = useAct(() => act(password));
  return (
    <form onSubmit={submitting(done)}>
      <Stack>
        {children}
        <Field kind="current-password" label="Your password" required value={password} onText={setPassword} />
        <Button type="submit" variant={variant} loading={done.isBusy} {...(color !== undefined && { color })}>
          {verb}
        </Button>
        <ErrorNotice error={done.error} />
      </Stack>
    </form>
  );
}
