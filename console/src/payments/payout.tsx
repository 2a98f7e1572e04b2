// One payout: its fields, its decisions, and those that this person may make.
import { useState } from 'react';
import { useParams } from 'wouter';
import type { Schemas } from '../api/client.ts';
import { useSession } from '../session/session.ts';
import { Fields } from '../ui/fields.tsx';
import { ObjectPage } from '../ui/page.tsx';
import { OwnWords } from '../ui/own-words.tsx';
import { Person } from '../ui/person.tsx';
import { Phone } from './cells.tsx';
import { whyNotRelease } from './decide.ts';
import { CancelChoice, DecisionChoice, type Decision } from './decision-choice.tsx';
import { CancelPayoutModal, RejectPayoutsModal, ReleaseModal } from './decision-modal.tsx';
import {
  decisionFields,
  givenBackField,
  operatorField,
  originFields,
  outcomeFields,
  recordFields,
} from './payment-fields.tsx';
import { usePayout } from './queries.ts';
import { EarlierPayouts, PayeeName, Warnings } from './warnings.tsx';
import { Timeline } from './timeline.tsx';

export function Payout() {
  const { id } = useParams<{ id: string }>();
  const query = usePayout(id);
  return (
    <ObjectPage noun="Payout" query={query}>
      {(payout) => (
        <>
          <Decisions payout={payout} />
          <PayoutFields payout={payout} />
          <OwnWords {...payout} payeeName={payout.payee_name} />
          <Timeline entries={payout.timeline} currency={payout.currency} />
        </>
      )}
    </ObjectPage>
  );
}

function PayoutFields({ payout }: { readonly payout: Schemas['PayoutWithTimeline'] }) {
  return (
    <Fields
      label="The payout"
      fields={[
        ...outcomeFields(payout),
        ['Payee', <Phone key="phone" phone={payout.phone} />],
        payout.judgement !== null && ['Name at the operator', <PayeeName key="name" judgement={payout.judgement} />],
        operatorField(payout),
        ['Made by', <Person key="maker" person={payout.created_by} />],
        ...decisionFields(payout, 'Created'),
        givenBackField(payout),
        [
          'Earlier payouts to this number',
          <EarlierPayouts key="earlier" judgement={payout.judgement} currency={payout.currency} />,
        ],
        ...originFields(payout),
        ...recordFields(payout),
      ]}
    />
  );
}

type PayoutProps = { readonly payout: Schemas['PayoutWithTimeline'] };

function Decisions({ payout }: PayoutProps) {
  const session = useSession();
  const [open, setOpen] = useState<Decision | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      {payout.approval_state === 'pending' && (
        <>
          <Warnings judgement={payout.judgement} currency={payout.currency} />
          <DecisionChoice
            noun="payout"
            refusal={whyNotRelease(session, payout, payout.created_by.id)}
            isOwn={payout.created_by.id === session.person.id}
            onChoose={setOpen}
          />
        </>
      )}
      {payout.state === 'released' && payout.cancellable && payout.created_by.id === session.person.id && (
        <CancelChoice noun="payout" onChoose={setOpen} />
      )}
      {/* They show the outcome, and stay after it no longer waits. */}
      {open === 'release' && <ReleaseModal payouts={[payout]} onClose={close} />}
      {open === 'reject' && <RejectPayoutsModal payouts={[payout]} onClose={close} />}
      {open === 'cancel' && <CancelPayoutModal payout={payout} onClose={close} />}
    </>
  );
}
