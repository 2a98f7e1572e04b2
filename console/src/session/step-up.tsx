// Verifies the person again, directly before an act that requires it.
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { createContext, useCallback, useContext, useRef, useState, type SyntheticEvent, type ReactNode } from 'react';
import { answerOf, api } from '../api/client.ts';
import { Field } from '../ui/field.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { signedByPasskey } from './passkey.ts';
import { StepUpClosed } from './step-up-closed.ts';
import { needsStepUp, useReplaceSession, useSession, type Session } from './session.ts';

type Ask = (operationId: string) => Promise<void>;
/** The dialog may open above another one. */
const ABOVE_OTHER_QUESTIONS = 400;
const StepUpContext = createContext<Ask>(() => Promise.reject(new StepUpClosed()));

/** Resolves once the person may carry out the operation; rejects with `StepUpClosed`. */
export function useStepUp(): Ask {
  return useContext(StepUpContext);
}

type Waiting = { readonly resolve: () => void; readonly reject: (error: Error) => void };

export function StepUpProvider({ children }: { readonly children: ReactNode }) {
  const session = useSession();
  const replaceSession = useReplaceSession();
  const waiting = useRef<Waiting | null>(null);
  const [isOpen, setOpen] = useState(false);

  const ask = useCallback<Ask>(
    (operationId) => {
      if (!needsStepUp(session, operationId, Date.now())) return Promise.resolve();
      setOpen(true);
      return new Promise((resolve, reject) => {
        waiting.current = { resolve, reject };
      });
    },
    [session],
  );
  const close = () => {
    setOpen(false);
    waiting.current?.reject(new StepUpClosed());
    waiting.current = null;
  };
  const done = (renewed: Session) => {
    replaceSession(renewed);
    setOpen(false);
    waiting.current?.resolve();
    waiting.current = null;
  };
  return (
    <StepUpContext value={ask}>
      {children}
      <Modal opened={isOpen} onClose={close} title="Prove that it is you" centered zIndex={ABOVE_OTHER_QUESTIONS}>
        <StepUpForm session={session} onDone={done} />
      </Modal>
    </StepUpContext>
  );
}

function StepUpForm({ session, onDone }: { readonly session: Session; readonly onDone: (session: Session) => void }) {
  const { factors, has_second_factor } = session;
  const [secret, setSecret] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);

  async function attempt(read: () => Promise<Parameters<typeof send>[0]>) {
    setBusy(true);
    setError(null);
    try {
      onDone(await send(await read()));
    } catch (failure) {
      setError(failure);
      setSecret('');
    } finally {
      setBusy(false);
    }
  }
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    void attempt(() => Promise.resolve(has_second_factor ? { totp: secret } : { password: secret }));
  };
  return (
    <Stack>
      {factors.passkeys > 0 && (
        <Button loading={isBusy} onClick={() => void attempt(givenPasskey)}>
          Use a passkey
        </Button>
      )}
      {(factors.totp || !has_second_factor) && (
        <form onSubmit={submit}>
          <Stack>
            {has_second_factor ? (
              <Field
                kind="code"
                label="Code of your authenticator app"
                description="Six digits. Each code works once: after a log-in, wait for the next one."
                value={secret}
                onText={setSecret}
                data-autofocus
              />
            ) : (
              <Field kind="current-password" label="Password" value={secret} onText={setSecret} data-autofocus />
            )}
            <Group justify="flex-end">
              <Button type="submit" loading={isBusy} disabled={secret === ''}>
                Go on
              </Button>
            </Group>
          </Stack>
        </form>
      )}
      <ErrorNotice error={error} />
      <Text size="sm" c="dimmed">
        The proof is valid for five minutes, only for you and only in this browser.
      </Text>
    </Stack>
  );
}

function send(body: { totp?: string; passkey?: string; password?: string }): Promise<Session> {
  return answerOf(api.POST('/v1/console/session/step-up', { body }));
}

async function givenPasskey() {
  return { passkey: await signedByPasskey(await answerOf(api.POST('/v1/console/session/step-up/options'))) };
}
