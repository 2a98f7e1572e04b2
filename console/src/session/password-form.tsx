// An act that asks for the password, so that a session which somebody else got hold of is not enough for it.
import { Button, Stack } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { Field } from '../ui/field.tsx';
import { submitting, useAct } from '../ui/use-act.ts';

type PasswordFormProps = {
  /** What the button says: the act itself. */
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
