// Accepts an invitation: with its link, and the approval token if the role needs a second person's approval.
import { Alert, Button, Stack } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { answerOf, api } from '../api/client.ts';
import { Field } from '../ui/field.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { submitting, useAct } from '../ui/use-act.ts';
import { Entrance } from './entrance.tsx';
import { fragmentValue } from './fragment.ts';

export function AcceptInvitation() {
  const [linkToken] = useState(() => fragmentValue('token'));
  const [token, setToken] = useState(linkToken);
  const [approvalToken, setApprovalToken] = useState('');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [totp, setTotp] = useState('');
  const [isDone, setDone] = useState(false);
  const accept = useAct(async () => {
    const optional = { ...(approvalToken !== '' && { approval_token: approvalToken }), ...(totp !== '' && { totp }) };
    await answerOf(api.POST('/v1/console/invitations/accept', { body: { token, name, password, ...optional } }));
    setDone(true);
  });
  const { byParam } = accept;
  const bound = (param: string, value: string, onText: (text: string) => void) => ({
    value,
    error: byParam[param],
    onText,
  });
  if (isDone) return <Welcome />;
  return (
    <Entrance title="Accept your invitation">
      <form onSubmit={submitting(accept)}>
        <Stack>
          {(linkToken === '' || byParam['token'] !== undefined) && (
            <Field
              kind="token"
              label="Invitation token"
              description="It comes with the link that you were sent."
              required
              {...bound('token', token, setToken)}
            />
          )}
          <Field label="Your name" autoComplete="name" required {...bound('name', name, setName)} />
          <Field
            kind="new-password"
            label="Password"
            description="A new password of at least 12 characters, or your own if you have an account here."
            required
            {...bound('password', password, setPassword)}
          />
          <Field
            kind="code"
            label="Code of your authenticator app"
            description="Only if you have an account here with a second factor."
            {...bound('totp', totp, setTotp)}
          />
          <Field
            kind="token"
            label="Approval token"
            description="Only if you were given one in addition to the link: some roles need the approval of a second person."
            {...bound('approval_token', approvalToken, setApprovalToken)}
          />
          <Button type="submit" loading={accept.isBusy}>
            Become a member
          </Button>
          <ErrorNotice error={accept.error} />
        </Stack>
      </form>
    </Entrance>
  );
}

function Welcome() {
  return (
    <Entrance title="Welcome">
      <Alert color="teal" title="You are a member">
        <Link href="/">Log in</Link> to begin. A role that moves money requires a second factor: you enrol it first.
      </Alert>
    </Entrance>
  );
}
