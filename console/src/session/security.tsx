// A person's own password, second factors and sessions.
import Bowser from 'bowser';
import { Badge, Button, Divider, Group, List, Modal, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { CopyText } from '../ui/copy-text.tsx';
import { ConfirmModal } from '../ui/modals.tsx';
import { Field } from '../ui/field.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { Heading, Loaded, Page, Part } from '../ui/page.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment } from '../ui/moment.tsx';
import { Rows, type Column } from '../ui/rows.tsx';
import { submitting, useAct } from '../ui/use-act.ts';
import { EnrolAuthenticator, RegisterPasskey } from './enrol.tsx';
import { PasswordForm } from './password-form.tsx';
import { useReplaceSession, useSession } from './session.ts';
import { useStepUp } from './step-up.tsx';

export function Security() {
  return (
    <Page title="Your security">
      <Sessions />
      <Divider />
      <Factors />
      <Divider />
      <ChangePassword />
    </Page>
  );
}

function Sessions() {
  const query = useQuery({ queryKey: ['sessions'], queryFn: () => answerOf(api.GET('/v1/console/sessions')) });
  const [ending, setEnding] = useState<Schemas['ListedSession'] | 'others' | null>(null);
  const columns: readonly Column<Schemas['ListedSession']>[] = [
    { title: 'Browser', cell: ({ user_agent }) => <BrowserName userAgent={user_agent} /> },
    { title: 'Address', cell: ({ address }) => address ?? 'unknown' },
    { title: 'Last used', cell: ({ last_used_at }) => <Moment at={last_used_at} /> },
    {
      title: '',
      cell: (listed) =>
        listed.is_current ? (
          <Badge miw="max-content">this one</Badge>
        ) : (
          <Button size="compact-sm" variant="default" onClick={() => setEnding(listed)}>
            End it…
          </Button>
        ),
    },
  ];
  return (
    <Part title="Sessions">
      <Loaded query={query}>{({ data }) => <Rows label="Sessions" columns={columns} rows={data} empty="" />}</Loaded>
      <Button variant="default" w="fit-content" onClick={() => setEnding('others')}>
        End all others…
      </Button>
      {ending !== null && <EndSessions ending={ending} onClose={() => setEnding(null)} />}
    </Part>
  );
}

type EndSessionsProps = {
  readonly ending: Schemas['ListedSession'] | 'others';
  readonly onClose: () => void;
};

function EndSessions({ ending, onClose }: EndSessionsProps) {
  if (ending === 'others') {
    return (
      <ConfirmModal
        title="End all your other sessions?"
        verb="End them"
        isDestructive
        operationId="endOtherSessions"
        act={() => answerOf(api.DELETE('/v1/console/sessions'))}
        onClose={onClose}
      >
        <Text>Those browsers must log in again. The session in this browser continues.</Text>
      </ConfirmModal>
    );
  }
  const { id, user_agent, address, last_used_at } = ending;
  return (
    <ConfirmModal
      title="End this session?"
      verb="End it"
      isDestructive
      operationId="endSession"
      act={() => answerOf(api.DELETE('/v1/console/sessions/{id}', { params: { path: { id } } }))}
      onClose={onClose}
    >
      <Text component="div">
        <BrowserName userAgent={user_agent} />, {address ?? 'unknown address'}, last used <Moment at={last_used_at} />
      </Text>
    </ConfirmModal>
  );
}

/** Such as “Chrome on Linux”. An unknown browser's own text is shown in full, and always on hover. */
function BrowserName({ userAgent }: { readonly userAgent: string | null }) {
  if (userAgent === null) return 'unknown';
  const { browser, os } = Bowser.parse(userAgent);
  const name = [browser.name, os.name].filter((part) => part !== undefined && part !== '').join(' on ');
  return (
    <span title={userAgent}>
      <MerchantText text={name === '' ? userAgent : name} />
    </span>
  );
}

function Factors() {
  const { factors } = useSession();
  const [open, setOpen] = useState<'authenticator' | 'passkey' | 'remove' | null>(null);
  const close = () => setOpen(null);
  return (
    <Part title="Second factors">
      <Text>
        Authenticator app: {factors.totp ? 'enrolled' : 'none'} · passkeys: {factors.passkeys} · recovery codes left:{' '}
        {factors.recovery_codes}
      </Text>
      <Passkeys />
      <Group>
        <Button variant="default" onClick={() => setOpen('passkey')}>
          Add a passkey…
        </Button>
        {factors.totp ? (
          <Button variant="default" onClick={() => setOpen('remove')}>
            Remove the authenticator app…
          </Button>
        ) : (
          <Button variant="default" onClick={() => setOpen('authenticator')}>
            Set up an authenticator app…
          </Button>
        )}
        <RecoveryCodes />
      </Group>
      <Modal opened={open === 'authenticator'} onClose={close} title="Authenticator app" centered>
        <EnrolAuthenticator onEnrolled={close} />
      </Modal>
      <Modal opened={open === 'passkey'} onClose={close} title="Add a passkey" centered>
        <RegisterPasskey onRegistered={close} />
      </Modal>
      <Modal opened={open === 'remove'} onClose={close} title="Remove the authenticator app" centered>
        <RemoveAuthenticator onRemoved={close} />
      </Modal>
    </Part>
  );
}

function Passkeys() {
  const { factors } = useSession();
  const stepUp = useStepUp();
  const client = useQueryClient();
  const query = useQuery({
    queryKey: ['passkeys', factors.passkeys],
    queryFn: () => answerOf(api.GET('/v1/console/session/passkeys')),
  });
  const [removed, setRemoved] = useState<Schemas['Passkey'] | null>(null);
  const remove = async (id: string, password: string) => {
    await stepUp('removePasskey');
    const params = { path: { id } };
    await answerOf(api.POST('/v1/console/session/passkeys/{id}/remove', { params, body: { password } }));
    setRemoved(null);
    await client.invalidateQueries();
  };
  if (query.data?.data.length === 0) return null;
  const columns: readonly Column<Schemas['Passkey']>[] = [
    { title: 'Added', cell: ({ created_at }) => <Moment at={created_at} /> },
    { title: 'Last used', cell: ({ last_used_at }) => <Moment at={last_used_at} /> },
    {
      title: '',
      cell: (passkey) => (
        <Button size="compact-sm" variant="default" onClick={() => setRemoved(passkey)}>
          Remove…
        </Button>
      ),
    },
    { title: 'Passkey', cell: ({ name }) => <MerchantText text={name} /> },
  ];
  return (
    <>
      <Loaded query={query}>{({ data }) => <Rows label="Passkeys" columns={columns} rows={data} empty="" />}</Loaded>
      <Modal opened={removed !== null} onClose={() => setRemoved(null)} title="Remove a passkey" centered>
        {removed && (
          <PasswordForm verb="Remove it" color="red" act={(password) => remove(removed.id, password)}>
            <Text size="sm">“{removed.name}” can no longer be used.</Text>
          </PasswordForm>
        )}
      </Modal>
    </>
  );
}

function RemoveAuthenticator({ onRemoved }: { readonly onRemoved: () => void }) {
  const replaceSession = useReplaceSession();
  const [password, setPassword] = useState('');
  const [totp, setTotp] = useState('');
  const remove = useAct(async () => {
    const body = { password, totp };
    replaceSession(await answerOf(api.POST('/v1/console/session/second-factor/remove', { body })));
    onRemoved();
  });
  return (
    <form onSubmit={submitting(remove)}>
      <Stack>
        <Field kind="current-password" label="Your password" required value={password} onText={setPassword} />
        <Field kind="code" label="Code of your authenticator app" required value={totp} onText={setTotp} />
        <Button type="submit" color="red" loading={remove.isBusy}>
          Remove it
        </Button>
        <ErrorNotice error={remove.error} />
      </Stack>
    </form>
  );
}

function RecoveryCodes() {
  const stepUp = useStepUp();
  const client = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const create = async (password: string) => {
    await stepUp('createRecoveryCodes');
    setCodes((await answerOf(api.POST('/v1/console/session/recovery-codes', { body: { password } }))).codes);
    setAsked(false);
    await client.invalidateQueries({ queryKey: ['session'] });
  };
  return (
    <>
      <Button variant="default" onClick={() => setAsked(true)}>
        New recovery codes…
      </Button>
      <Modal opened={isAsked} onClose={() => setAsked(false)} title="New recovery codes" centered>
        <PasswordForm verb="Make them" act={create}>
          <Text size="sm">You get ten new codes. The codes that you have stop working.</Text>
        </PasswordForm>
      </Modal>
      <Modal opened={codes !== null} onClose={() => setCodes(null)} title="Your recovery codes" centered>
        <Stack>
          <Text size="sm">
            They are shown only this once. Each code replaces your second factor once. Older codes no longer work.
          </Text>
          <List listStyleType="none" ff="monospace">
            {codes?.map((code) => (
              <List.Item key={code}>{code}</List.Item>
            ))}
          </List>
          <CopyText text={codes?.join(' ') ?? ''} what="codes" />
        </Stack>
      </Modal>
    </>
  );
}

function ChangePassword() {
  const stepUp = useStepUp();
  const replaceSession = useReplaceSession();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [isDone, setDone] = useState(false);
  const change = useAct(async () => {
    setDone(false);
    await stepUp('changePassword');
    const body = { current_password: current, new_password: next };
    replaceSession(await answerOf(api.POST('/v1/console/session/password', { body })));
    setCurrent('');
    setNext('');
    setDone(true);
  });
  return (
    <form onSubmit={submitting(change)}>
      <Stack maw={400}>
        <Heading>Password</Heading>
        <Field kind="current-password" label="Present password" required value={current} onText={setCurrent} />
        <Field kind="new-password" label="New password" required value={next} onText={setNext} />
        <Button type="submit" w="fit-content" loading={change.isBusy}>
          Change the password
        </Button>
        {isDone && <Text role="status">Your password is changed; your other sessions have ended.</Text>}
        <ErrorNotice error={change.error} />
      </Stack>
    </form>
  );
}
