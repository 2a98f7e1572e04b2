// Enrols a second factor: an authenticator app, by a QR code or its secret, or a passkey.
import { Alert, Button, Center, Divider, Stack, Text } from '@mantine/core';
import { startRegistration, type PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/browser';
import { useState } from 'react';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { CopyText } from '../ui/copy-text.tsx';
import { Field } from '../ui/field.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { QrCode } from '../ui/qr-code.tsx';
import { submitting, useAct } from '../ui/use-act.ts';
import { PasswordForm } from './password-form.tsx';
import { useReplaceSession } from './session.ts';
import { useStepUp } from './step-up.tsx';

/** Calls `onEnrolled` once the factor is in force. */
export function EnrolAuthenticator({ onEnrolled }: { readonly onEnrolled: () => void }) {
  const replaceSession = useReplaceSession();
  const [totp, setTotp] = useState('');
  const [started, setStarted] = useState<Schemas['StartedSecondFactor'] | null>(null);
  const start = async (password: string) => {
    setStarted(await answerOf(api.POST('/v1/console/session/second-factor', { body: { password } })));
  };
  const confirm = useAct(async () => {
    const session = await answerOf(api.POST('/v1/console/session/second-factor/confirm', { body: { totp } }));
    onEnrolled();
    replaceSession(session);
  });
  if (started === null) return <PasswordForm verb="Set up an authenticator app" act={start} />;
  return (
    <form onSubmit={submitting(confirm)}>
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
  const stepUp = useStepUp();
  const [name, setName] = useState('This device');
  const register = async (password: string) => {
    await stepUp('startPasskey');
    const options = await answerOf(api.POST('/v1/console/session/passkeys/options', { body: { password } }));
    const optionsJSON = options.public_key as unknown as PublicKeyCredentialCreationOptionsJSON;
    const credential = JSON.stringify(await startRegistration({ optionsJSON }));
    const body = { name, credential, password };
    const session = await answerOf(api.POST('/v1/console/session/passkeys', { body }));
    onRegistered();
    replaceSession(session);
  };
  return (
    <PasswordForm verb="Add a passkey" variant="default" act={register}>
      <Field label="Name of the passkey" required value={name} onText={setName} />
    </PasswordForm>
  );
}

/** The only page of a person who must still enrol the second factor that their roles require. */
export function MustEnrol() {
  const [usesPasskey, setUsesPasskey] = useState(false);
  const done = () => undefined;
  return (
    <Stack>
      <Alert title="One thing first">
        Your roles can move money or grant rights, so you need a second factor in addition to your password: an
        authenticator app, or a passkey of this device or a security key. Your password is asked for once more.
      </Alert>
      {usesPasskey ? <RegisterPasskey onRegistered={done} /> : <EnrolAuthenticator onEnrolled={done} />}
      <Divider label="or" />
      <Button variant="subtle" onClick={() => setUsesPasskey(!usesPasskey)}>
        {usesPasskey ? 'Use an authenticator app' : 'Use a passkey'}
      </Button>
    </Stack>
  );
}
