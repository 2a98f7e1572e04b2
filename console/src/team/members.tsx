// The members of the merchant, proposals that wait for a second person, and open invitations.
import { Alert, Button } from '@mantine/core';
import { useState } from 'react';
import { answerOf, api } from '../api/client.ts';
import { hasRole, useSession } from '../session/session.ts';
import { Loaded, Page, Part } from '../ui/page.tsx';
import { SecretModal, type Secret } from '../ui/secret-modal.tsx';
import { useCurrent } from '../ui/polling.ts';
import { InvitationList, WaitingInvitation } from './invitations.tsx';
import { InviteModal } from './invite.tsx';
import { WaitingChange } from './member-changes.tsx';
import { MemberList } from './member-list.tsx';
import { useInvitations } from './queries.ts';

export function Members() {
  const session = useSession();
  const members = useCurrent(['members'], () => answerOf(api.GET('/v1/console/members')));
  const invitations = useInvitations();
  const [isInviting, setInviting] = useState(false);
  const [secret, setSecret] = useState<Secret | null>(null);
  const [notice, setNotice] = useState<string | null>(null);
  const changes = members.data?.data.flatMap(({ waiting_changes }) => waiting_changes) ?? [];
  const waiting = invitations.data?.data.filter(({ approval }) => approval === 'waiting') ?? [];
  const invite = hasRole(session, 'admin') && <Button onClick={() => setInviting(true)}>Invite a person…</Button>;
  return (
    <Page title="Members" actions={invite}>
      {notice !== null && (
        <Alert color="blue" title={notice} withCloseButton closeButtonLabel="Close" onClose={() => setNotice(null)} />
      )}
      {changes.length + waiting.length > 0 && (
        <Part title="Waiting for a second person">
          {changes.map((change) => (
            <WaitingChange key={change.id} change={change} />
          ))}
          {waiting.map((invitation) => (
            <WaitingInvitation key={invitation.id} invitation={invitation} onSecret={setSecret} />
          ))}
        </Part>
      )}
      <Loaded query={members}>{({ data }) => <MemberList members={data} onNotice={setNotice} />}</Loaded>
      <Part title="Open invitations">
        <Loaded query={invitations}>{({ data }) => <InvitationList invitations={data} />}</Loaded>
      </Part>
      {isInviting && (
        <InviteModal
          onInvited={(made) => {
            setInviting(false);
            setSecret(made);
          }}
          onClose={() => setInviting(false)}
        />
      )}
      <SecretModal secret={secret} onClose={() => setSecret(null)} />
    </Page>
  );
}
