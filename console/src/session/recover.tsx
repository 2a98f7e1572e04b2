// Sets a new password with the token of two of the service's staff. The second factor is enrolled afterwards.
import { Alert, Button, Stack } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { answerOf, api } from '../api/client.ts';
import { Field } from '../ui/field.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { submitting, useAct } from '../ui/use-act.ts';
import { Entrance } from './entrance.tsx';
import { fragmentValue } from './fragment.ts';

export function Recover() {
  const [token, setToken] = useState(() => fragmentValue('token'));
  const [password, setPassword] = useState('');
  const [isDone, setDone] = useState(false);
  const recover = useAct(async () => {
    await answerOf(api.POST('/v1/console/recovery', { body: { token, new_password: password } }));
    setDone(true);
  });
  return (
    <Entrance title="Recover your account">
      {isDone ? (
        <Alert color="teal" title="Your password is set">
          <Link href="/">Log in</Link> with it, and enrol a second factor first of all.
        </Alert>
      ) : (
        <form onSubmit={submitting(recover)}>
          <Stack>
            <Field kind="token" label="Recovery token" required value={token} onText={setToken} />
            <Field kind="new-password" label="New password" required value={password} onText={setPassword} />
            <Button type="submit" loading={recover.isBusy}>
              Set the password
            </Button>
            <ErrorNotice error={recover.error} />
          </Stack>
        </form>
      )}
    </Entrance>
  );
}
