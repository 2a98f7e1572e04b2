// Enrolling a second factor: an authenticator app, by a QR code or its secret, or a passkey.
import { Alert, Button, Center, Divider, Stack, Text } from '@mantine/core';
import { startRegistration, type PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/browser';
import { useState, type SyntheticEvent } from 'react';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { CopyText } from '../ui/copy-text.tsx';
import { Field } from '../ui/field.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { QrCode } from '../ui/qr-code.tsx';
import { useAct } from '../ui/use-act.ts';
import { useReplaceSession } from './session.ts';

/** Calls `onEnrolled` once the factor counts. */
export function EnrolAuthenticator({ onEnrolled }: { readonly onEnrolled: () => void }) {
  const replaceSession = useReplaceSession();
  const [password, setPassword] = useState('');
  const [totp, setTotp] = useState('');
  const [started, setStarted] = useState<Schemas['StartedSecondFactor'] | null>(null);
  const start = useAct(async () => {
    setStarted(await answerOf(api.POST('/v1/console/session/second-factor', { body: { password } })));
  });
  const confirm = useAct(async () => {
    const session = await answerOf(api.POST('/v1/console/session/second-factor/confirm', { body: { totp } }));
    onEnrolled();
    replaceSession(session);
  });
  const on = (act: () => void) => (event: SyntheticEvent) => {
    event.preventDefault();
    act();
  };
  if (started === null) {
    return (
      <form onSubmit={on(start.run)}>
        <Stack>
          <Field
            kind="password"
            label="Your password"
            autoComplete="current-password"
            required
            value={password}
            onText={setPassword}
          />
          <Button type="submit" loading={start.isBusy}>
            Set up an authenticator app
          </Button>
          <ErrorNotice error={start.error} />
        </Stack>
      </form>
    );
  }
  return (
    <form onSubmit={on(confirm.run)}>
      <Stack>
        <Text size="sm">Scan this with your authenticator app, or type the secret into it.</Text>
        <Center>
          <QrCode text={started.otpauth_url} label="Secret of the second factor as a QR code" />
        </Center>
        <CopyText text={started.secret} what="secret" />
        <Field kind="code" label="The code that the app shows" required value={totp} onText={setTotp} />
        <Button type="submit" loading={confirm.isBusy}>
          Confirm
        </Button>
        <ErrorNotice error={confirm.error} />
      </Stack>
    </form>
  );
}

export function RegisterPasskey({ onRegistered }: { readonly onRegistered: () => void }) {
  const replaceSession = useReplaceSession();
  const [name, setName] = useState('This device');
  const register = useAct(async () => {
    const { public_key } = await answerOf(api.POST('/v1/console/session/passkeys/options'));
    const optionsJSON = public_key as unknown as PublicKeyCredentialCreationOptionsJSON;
    const credential = JSON.stringify(await startRegistration({ optionsJSON }));
    const session = await answerOf(api.POST('/v1/console/session/passkeys', { body: { name, credential } }));
    onRegistered();
    replaceSession(session);
  });
  return (
    <Stack>
      <Field label="Name of the passkey" value={name} onText={setName} />
      <Button variant="default" loading={register.isBusy} disabled={name === ''} onClick={() => register.run()}>
        Add a passkey
      </Button>
      <ErrorNotice error={register.error} />
    </Stack>
  );
}

/** The only page of a person whose roles require a second factor that they have yet to enrol. */
export function MustEnrol() {
  const done = () => undefined;
  return (
    <Stack>
      <Alert title="One thing first">
        Your roles can move money or give rights, so you need a second factor besides your password.
      </Alert>
      <EnrolAuthenticator onEnrolled={done} />
      <Divider label="or" />
      <RegisterPasskey onRegistered={done} />
    </Stack>
  );
}
