// One refund: its amount, its decisions, and those that this person may make.
import { useState } from 'react';
import { useParams } from 'wouter';
import type { Schemas } from '../api/client.ts';
import { useSession } from '../session/session.ts';
import { Fields } from '../ui/fields.tsx';
import { ObjectPage } from '../ui/page.tsx';
import { ObjectLink } from '../ui/object-link.tsx';
import { OwnWords } from '../ui/own-words.tsx';
import { Person } from '../ui/person.tsx';
import { Phone } from './cells.tsx';
import { useRefundDecisions, whyNotRelease } from './decide.ts';
import { CancelChoice, DecisionChoice, type Decision } from './decision-choice.tsx';
import { decisionFields, idFields, outcomeFields, statusQueryFields, workflowField } from './payment-fields.tsx';
import { useRefund } from './queries.ts';
import { RefundModal } from './refund-modal.tsx';
import { RejectRefundModal } from './reject-modal.tsx';

type RefundObject = Schemas['ReversalWithWorkflow'];

export function Refund() {
  const { id } = useParams<{ id: string }>();
  const query = useRefund(id);
  return (
    <ObjectPage noun="Refund" named="Refund of" query={query}>
      {(refund) => (
        <>
          <Decisions refund={refund} />
          <RefundFields refund={refund} />
          <OwnWords reference={refund.reference} />
        </>
      )}
    </ObjectPage>
  );
}

function RefundFields({ refund }: { readonly refund: RefundObject }) {
  return (
    <Fields
      label="The refund"
      fields={[
        ...outcomeFields(refund),
        ['Goes back to', <Phone key="phone" phone={refund.phone} />],
        ['Of', <ObjectLink key="collection" id={refund.collection_id} />],
        ['Requested by', <Person key="maker" person={refund.requested_by_person} />],
        ...decisionFields(refund, 'Requested'),
        ...idFields(refund),
        ...statusQueryFields(refund),
        workflowField(refund),
      ]}
    />
  );
}

type RefundProps = { readonly refund: RefundObject };

function Decisions({ refund }: RefundProps) {
  const session = useSession();
  const decisions = useRefundDecisions();
  const [open, setOpen] = useState<Decision | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      {refund.approval_state === 'pending' && (
        <DecisionChoice
          noun="refund"
          refusal={whyNotRelease(session, refund, refund.requested_by)}
          isOwn={refund.requested_by === session.person.id}
          onChoose={setOpen}
        />
      )}
      {refund.state === 'released' && refund.cancellable && refund.requested_by === session.person.id && (
        <CancelChoice noun="refund" onChoose={setOpen} />
      )}
      {/* They say why something failed, and stay after it no longer waits. */}
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
      {open === 'cancel' && (
        <RefundModal
          title="Cancel the refund"
          note="Nothing is sent, and the money is available again at once. That cannot be undone."
          verb="Cancel it"
          isDestructive
          of={refund}
          act={() => decisions.cancel(refund.id)}
          onClose={close}
        />
      )}
      {open === 'reject' && (
        <RejectRefundModal of={refund} reject={(reason) => decisions.reject(refund.id, reason)} onClose={close} />
      )}
    </>
  );
}
