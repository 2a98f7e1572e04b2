// One payout: what it is, who decided what, and what this person may decide.
import { Alert, Button, Group } from '@mantine/core';
import { useState } from 'react';
import { useParams } from 'wouter';
import type { Schemas } from '../api/client.ts';
import { useSession } from '../session/session.ts';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { Fields } from '../ui/fields.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';
import { Person } from '../ui/person.tsx';
import { useAct } from '../ui/use-act.ts';
import { Phone } from './cells.tsx';
import { usePayoutDecisions, whyNotRelease } from './decide.ts';
import {
  additionalFields,
  decisionFields,
  eventsField,
  idFields,
  receiptField,
  originFields,
  outcomeFields,
  requestFields,
  workflowFields,
} from './payment-fields.tsx';
import { usePayout } from './queries.ts';
import { EarlierPayouts, Warnings } from './warnings.tsx';
import { RejectPayoutsModal } from './reject-payouts-modal.tsx';
import { ReleaseModal } from './release-modal.tsx';
import { Timeline } from './timeline.tsx';

export function Payout() {
  const { id } = useParams<{ id: string }>();
  const query = usePayout(id);
  return (
    <Page title={query.data === undefined ? 'Payout' : `Payout ${query.data.reference}`}>
      <Loaded query={query}>
        {(payout) => (
          <>
            <Decisions payout={payout} />
            <PayoutFields payout={payout} />
            <Timeline entries={payout.timeline} currency={payout.currency} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function PayoutFields({ payout }: { readonly payout: Schemas['PayoutWithTimeline'] }) {
  return (
    <Fields
      label="The payout"
      fields={[
        ...outcomeFields(payout),
        ['Payee', <Phone key="phone" phone={payout.phone} />],
        ...requestFields(payout),
        ['Made by', <Person key="maker" person={payout.created_by} />],
        ...decisionFields(payout, 'Created'),
        ...additionalFields(payout),
        [
          'Earlier payouts to this number',
          <EarlierPayouts key="earlier" judgement={payout.judgement} currency={payout.currency} />,
        ],
        ...originFields(payout),
        receiptField(payout),
        ...idFields(payout),
        eventsField(payout.id),
        ...workflowFields(payout),
      ]}
    />
  );
}

function Decisions({ payout }: { readonly payout: Schemas['PayoutWithTimeline'] }) {
  const session = useSession();
  const decisions = usePayoutDecisions();
  const [open, setOpen] = useState<'release' | 'reject' | null>(null);
  const cancel = useAct(() => decisions.cancel(payout.id));
  if (payout.approval_state !== 'pending') return null;
  const refusal = whyNotRelease(session, payout, payout.created_by.id);
  const isOwn = payout.created_by.id === session.person.id;
  const close = () => setOpen(null);
  return (
    <>
      <Warnings judgement={payout.judgement} currency={payout.currency} />
      {refusal === null ? (
        <Group>
          <Button onClick={() => setOpen('release')}>Release…</Button>
          <Button variant="default" onClick={() => setOpen('reject')}>
            Reject…
          </Button>
        </Group>
      ) : (
        <Alert color="blue" title="Waiting for a release">
          {refusal}
        </Alert>
      )}
      {isOwn && (
        <Button variant="default" w="fit-content" loading={cancel.isBusy} onClick={() => cancel.run()}>
          Cancel the payout
        </Button>
      )}
      <ErrorNotice error={cancel.error} />
      {open === 'release' && <ReleaseModal payouts={[payout]} onClose={close} />}
      {open === 'reject' && <RejectPayoutsModal payouts={[payout]} onClose={close} />}
    </>
  );
}
