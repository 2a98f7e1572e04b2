// One refund: what it gives back, who decided what, and what this person may decide.
import { Alert, Anchor, Button, Group } from '@mantine/core';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import type { Schemas } from '../api/client.ts';
import { useSession } from '../session/session.ts';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { Fields } from '../ui/fields.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';
import { Person } from '../ui/person.tsx';
import { useAct } from '../ui/use-act.ts';
import { Phone } from './cells.tsx';
import { useRefundDecisions, whyNotRelease } from './decide.ts';
import { decisionFields, idFields, outcomeFields, workflowFields } from './payment-fields.tsx';
import { useRefund } from './queries.ts';
import { RefundModal } from './refund-modal.tsx';
import { RejectRefundModal } from './reject-modal.tsx';

type RefundObject = Schemas['ReversalWithWorkflow'];

export function Refund() {
  const { id } = useParams<{ id: string }>();
  const query = useRefund(id);
  return (
    <Page title={query.data === undefined ? 'Refund' : `Refund of ${query.data.reference}`}>
      <Loaded query={query}>
        {(refund) => (
          <>
            <Decisions refund={refund} />
            <RefundFields refund={refund} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function RefundFields({ refund }: { readonly refund: RefundObject }) {
  return (
    <Fields
      label="The refund"
      fields={[
        ...outcomeFields(refund),
        ['Goes back to', <Phone key="phone" phone={refund.phone} />],
        [
          'Of the collection',
          <Anchor key="collection" component={Link} inherit href={`/collections/${refund.collection_id}`}>
            {refund.reference}
          </Anchor>,
        ],
        ['Requested by', <Person key="maker" person={refund.requested_by_person} />],
        ...decisionFields(refund, 'Requested'),
        ...idFields(refund),
        ...workflowFields(refund),
      ]}
    />
  );
}

function Decisions({ refund }: { readonly refund: RefundObject }) {
  const session = useSession();
  const decisions = useRefundDecisions();
  const [open, setOpen] = useState<'release' | 'reject' | null>(null);
  const cancel = useAct(() => decisions.cancel(refund.id));
  if (refund.approval_state !== 'pending') return null;
  const refusal = whyNotRelease(session, refund, refund.requested_by);
  const close = () => setOpen(null);
  return (
    <>
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
      {refund.requested_by === session.person.id && (
        <Button variant="default" w="fit-content" loading={cancel.isBusy} onClick={() => cancel.run()}>
          Cancel the refund
        </Button>
      )}
      <ErrorNotice error={cancel.error} />
      {open === 'release' && (
        <RefundModal
          title="Release the refund"
          note="The whole amount is sent at once."
          verb="Release it"
          of={refund}
          act={() => decisions.release(refund.id)}
          onClose={close}
        />
      )}
      {open === 'reject' && (
        <RejectRefundModal
          reference={refund.reference}
          reject={(reason) => decisions.reject(refund.id, reason)}
          onClose={close}
        />
      )}
    </>
  );
}
