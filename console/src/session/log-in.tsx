// The log-in: e-mail and password, then the second factor of the person.
import { Anchor, Button, Divider, Stack } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { Field } from '../ui/field.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { useAct } from '../ui/use-act.ts';
import { Entrance } from './entrance.tsx';
import { signedByPasskey } from './passkey.ts';
import type { Session } from './session.ts';

type Factor = 'totp' | 'recovery_code';

export function LogIn({ onLoggedIn }: { readonly onLoggedIn: (session: Session) => void }) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [factor, setFactor] = useState<Factor>('totp');

  const logIn = useAct(async (factors: Pick<Schemas['LogIn'], Factor | 'passkey'>) => {
    try {
      onLoggedIn(await answerOf(api.POST('/v1/console/session', { body: { email, password, ...factors } })));
    } finally {
      // A code works once, whatever the outcome.
      setCode('');
    }
  });
  const withPasskey = useAct(async () => {
    const passkey = await signedByPasskey(await answerOf(api.POST('/v1/console/session/options', { body: { email } })));
    onLoggedIn(await answerOf(api.POST('/v1/console/session', { body: { email, password, passkey } })));
  });
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    withPasskey.forget();
    logIn.run(code === '' ? {} : { [factor]: code });
  };
  return (
    <Entrance title="Log in">
      <form onSubmit={submit}>
        <Stack>
          <Field kind="email" label="E-mail" autoComplete="username" required value={email} onText={setEmail} />
          <Field kind="current-password" label="Password" required value={password} onText={setPassword} />
          <CodeField factor={factor} code={code} onCode={setCode} onFactor={setFactor} />
          <Button type="submit" loading={logIn.isBusy}>
            Log in
          </Button>
          <Divider label="or" />
          <Button
            variant="default"
            loading={withPasskey.isBusy}
            onClick={({ currentTarget: { form } }) => {
              // The browser says which of e-mail and password is missing.
              if (form?.reportValidity() !== true) return;
              logIn.forget();
              withPasskey.run();
            }}
          >
            Log in with a passkey
          </Button>
          <ErrorNotice error={logIn.error ?? withPasskey.error} />
        </Stack>
      </form>
    </Entrance>
  );
}

type CodeFieldProps = {
  readonly factor: Factor;
  readonly code: string;
  readonly onCode: (code: string) => void;
  readonly onFactor: (factor: Factor) => void;
};

function CodeField({ factor, code, onCode, onFactor }: CodeFieldProps) {
  const isTotp = factor === 'totp';
  return (
    <div>
      <Field
        kind={isTotp ? 'code' : 'token'}
        label={isTotp ? 'Code of your authenticator app' : 'Recovery code'}
        description={isTotp ? 'Leave it empty if you have none yet.' : 'Each code works once.'}
        value={code}
        onText={onCode}
      />
      <Anchor component="button" type="button" size="sm" onClick={() => onFactor(isTotp ? 'recovery_code' : 'totp')}>
        {isTotp ? 'Use a recovery code' : 'Use a code of the authenticator app'}
      </Anchor>
    </div>
  );
}
