// Waiting payouts and refunds, for this person or others, and decided ones; and the release of several at once.
import { Button, Checkbox, Group, Tabs, Text } from '@mantine/core';
import { useState } from 'react';
import type { Schemas } from '../api/client.ts';
import { useSession } from '../session/session.ts';
import { Amount } from '../ui/amount.tsx';
import { formatAmount, formatSpan } from '../ui/format.ts';
import { Hint, Loaded, Page, Part } from '../ui/page.tsx';
import { Listed, More, Rows, type Column } from '../ui/rows.tsx';
import { Person } from '../ui/person.tsx';
import { useNow } from '../ui/use-now.ts';
import { useFilters } from '../ui/filters.tsx';
import { Payee, paymentColumns, referenceColumn } from './cells.tsx';
import { whyNotRelease } from './decide.ts';
import { RejectPayoutsModal, ReleaseModal } from './decision-modal.tsx';
import { usePayouts, useRefunds } from './queries.ts';
import { PAYOUT_STATES } from './states.ts';
import { lookTwice } from './warnings.tsx';
import { REFUND_COLUMNS } from './refunds.tsx';

type PayoutObject = Schemas['ConsolePayout'];

/** Every state except the one in which a payout waits. */
const DECIDED = PAYOUT_STATES.filter((state) => state !== 'queued');

const TABS = [
  { value: 'me', label: 'Waiting for me' },
  { value: 'others', label: 'Waiting for others' },
  { value: 'decided', label: 'Decided' },
];

export function Approvals() {
  const { values, set } = useFilters(['show']);
  const show = values.show === '' ? 'me' : values.show;
  return (
    <Page title="Approvals">
      <Tabs value={show} onChange={(value) => set('show', value)}>
        <Tabs.List aria-label="Which">
          {TABS.map(({ value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </Tabs>
      {show === 'decided' ? <Decided /> : <WaitingPayouts key={show} isForMe={show === 'me'} />}
      {show !== 'decided' && <WaitingRefunds isForMe={show === 'me'} />}
    </Page>
  );
}

function WaitingPayouts({ isForMe }: { readonly isForMe: boolean }) {
  const session = useSession();
  const nowMs = useNow();
  const { query, more } = usePayouts(isForMe ? { waiting_for: 'me', sort: 'oldest' } : { approval_state: 'pending' });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  // As they were when they were chosen: the list continues to change behind the dialog.
  const [deciding, setDeciding] = useState<Deciding | null>(null);
  const isMine = (payout: PayoutObject) => whyNotRelease(session, payout, payout.created_by.id) === null;
  const rows = query.data?.filter((payout) => isMine(payout) === isForMe);
  const selected = rows?.filter(({ id }) => chosen.has(id)) ?? [];
  const columns: readonly Column<PayoutObject>[] = [
    ...(isForMe ? [choice(rows ?? [], chosen, setChosen)] : []),
    { title: 'Payee', cell: ({ phone, operator }) => <Payee phone={phone} operator={operator} /> },
    { title: 'Amount', isNumber: true, cell: ({ amount, currency }) => <Amount amount={amount} currency={currency} /> },
    lookTwice,
    {
      title: 'Made by',
      cell: ({ created_by, created_at }) => (
        <>
          <Person person={created_by} />
          <Hint>{formatSpan(nowMs - Date.parse(created_at))} ago</Hint>
        </>
      ),
    },
    { title: 'Approvals', cell: ({ approvals, approvals_required }) => `${approvals.length} of ${approvals_required}` },
    ...(isForMe
      ? []
      : [{ title: 'Why you cannot', cell: (row: PayoutObject) => whyNotRelease(session, row, row.created_by.id) }]),
    referenceColumn('/payouts'),
  ];
  const close = () => {
    setDeciding(null);
    setChosen(new Set());
  };
  return (
    <Part title="Payouts">
      <Loaded query={{ ...query, data: rows }}>
        {(shown) => (
          <>
            {isForMe && <ChooseUnwarned payouts={shown} onChoose={setChosen} />}
            <Rows
              label="Waiting payouts"
              columns={columns}
              rows={shown}
              empty={isForMe ? 'No payout waits for you.' : 'No payout waits for others.'}
              isChosen={({ id }) => chosen.has(id)}
            />
            <More {...more} />
          </>
        )}
      </Loaded>
      {isForMe && selected.length > 0 && <ChosenPayouts payouts={selected} onDecide={setDeciding} />}
      {deciding?.what === 'release' && <ReleaseModal payouts={deciding.payouts} onClose={close} />}
      {deciding?.what === 'reject' && <RejectPayoutsModal payouts={deciding.payouts} onClose={close} />}
    </Part>
  );
}

type Deciding = { readonly what: 'release' | 'reject'; readonly payouts: readonly PayoutObject[] };
type ChosenPayoutsProps = {
  readonly payouts: readonly PayoutObject[];
  readonly onDecide: (deciding: Deciding) => void;
};

function ChosenPayouts({ payouts, onDecide }: ChosenPayoutsProps) {
  const { currency } = useSession().merchant;
  return (
    <Group className="chosen-bar">
      <Button onClick={() => onDecide({ what: 'release', payouts })}>Release {payouts.length}…</Button>
      <Button variant="default" onClick={() => onDecide({ what: 'reject', payouts })}>
        Reject {payouts.length}…
      </Button>
      <Text>
        <Amount amount={payouts.reduce((sum, { amount }) => sum + amount, 0)} currency={currency} />
      </Text>
    </Group>
  );
}

type ChooseUnwarnedProps = {
  readonly payouts: readonly PayoutObject[];
  readonly onChoose: (chosen: ReadonlySet<string>) => void;
};

/** Offered if some have a warning and others have none. */
function ChooseUnwarned({ payouts, onChoose }: ChooseUnwarnedProps) {
  const unwarned = payouts.filter(({ judgement }) => judgement?.warnings.length === 0);
  if (unwarned.length === 0 || unwarned.length === payouts.length) return null;
  return (
    <Button
      variant="subtle"
      size="compact-md"
      w="fit-content"
      onClick={() => onChoose(new Set(unwarned.map(({ id }) => id)))}
    >
      Choose {unwarned.length === 1 ? 'the one' : `the ${unwarned.length}`} without a warning
    </Button>
  );
}

function choice(
  rows: readonly PayoutObject[],
  chosen: ReadonlySet<string>,
  setChosen: (chosen: ReadonlySet<string>) => void,
): Column<PayoutObject> {
  const isAll = rows.length > 0 && rows.every(({ id }) => chosen.has(id));
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  return {
    title: (
      <Checkbox
        aria-label="Choose all"
        // On a phone no heading names it.
        label={<span className="narrow-only">Choose all</span>}
        checked={isAll}
        indeterminate={!isAll && rows.some(({ id }) => chosen.has(id))}
        onChange={() => setChosen(new Set(isAll ? [] : rows.map(({ id }) => id)))}
      />
    ),
    // The reference need not be unique, and the merchant chose it.
    cell: ({ id, amount, currency, phone, reference }) => (
      <Checkbox
        aria-label={`Choose ${formatAmount(amount, currency)} ${currency} to ${phone}: ${reference}`}
        checked={chosen.has(id)}
        onChange={() => toggle(id)}
      />
    ),
  };
}

function WaitingRefunds({ isForMe }: { readonly isForMe: boolean }) {
  const session = useSession();
  const { query, more } = useRefunds({ approval_state: 'pending' });
  const rows = query.data?.filter(
    (refund) => (whyNotRelease(session, refund, refund.requested_by) === null) === isForMe,
  );
  return (
    <Part title="Refunds">
      <Listed
        list={{ query: { ...query, data: rows }, more }}
        label="Waiting refunds"
        columns={REFUND_COLUMNS}
        empty={isForMe ? 'No refund waits for you.' : 'No refund waits for others.'}
      />
    </Part>
  );
}

function Decided() {
  const list = usePayouts({ states: DECIDED });
  return (
    <Listed list={list} label="Decided payouts" columns={paymentColumns('/payouts')} empty="Nothing was decided yet." />
  );
}
