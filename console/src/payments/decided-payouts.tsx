// The payouts of one decision: their current states before it, and the outcome of each after it.
import { Alert, Loader, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { Amount } from '../ui/amount.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { amountInWords } from '../ui/format.ts';
import { MerchantText } from '../ui/merchant-text.tsx';
import { REFERENCE_TITLE } from '../ui/own-words.tsx';
import { Person } from '../ui/person.tsx';
import { Rows, type Column } from '../ui/rows.tsx';
import { StateBadge } from '../ui/state-badge.tsx';
import { Payee } from './cells.tsx';
import type { Outcome } from './decide.ts';
import { lookTwice } from './warnings.tsx';

export type PayoutObject = Schemas['ConsolePayout'];

/** The current payouts: those of a list may be minutes old. */
export function useCurrentPayouts(payouts: readonly PayoutObject[]) {
  const { data, isPending, error } = useQuery({
    queryKey: ['payouts to decide', payouts.map(({ id }) => id)],
    queryFn: () => Promise.all(payouts.map(({ id }) => fetchPayout(id))),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  return {
    isPending,
    error,
    waiting: data?.filter(({ approval_state }) => approval_state === 'pending') ?? [],
    changed: data?.filter(({ approval_state }) => approval_state !== 'pending') ?? [],
  };
}

function fetchPayout(id: string): Promise<PayoutObject> {
  return answerOf(api.GET('/v1/console/payouts/{id}', { params: { path: { id } } }));
}

type Money = Pick<PayoutObject, 'amount' | 'currency'>;

type ToDecideProps = {
  readonly current: ReturnType<typeof useCurrentPayouts>;
  /** The decision, such as “released”. Changed payouts are excluded. */
  readonly done: string;
};

export function ToDecide({ current: { isPending, error, waiting, changed }, done }: ToDecideProps) {
  return (
    <>
      {isPending && <Loader aria-label="Loading" />}
      <ErrorNotice error={error} />
      {changed.length > 0 && (
        <Alert color="orange" title={`Changed after the list was loaded, and not ${done}`}>
          {changed.map(({ id, reference, state }) => (
            <div key={id}>
              <StateBadge state={state} /> <MerchantText text={reference} />
            </div>
          ))}
        </Alert>
      )}
      {waiting.length > 0 && <Waiting payouts={waiting} />}
    </>
  );
}

function Waiting({ payouts }: { readonly payouts: readonly PayoutObject[] }) {
  const currency = payouts[0]?.currency ?? '';
  const columns: readonly Column<PayoutObject>[] = [
    { title: 'Payee', cell: ({ phone, operator }) => <Payee phone={phone} operator={operator} /> },
    { title: 'Amount', isNumber: true, cell: ({ amount }) => <Amount amount={amount} currency={currency} /> },
    lookTwice,
    { title: 'Made by', cell: ({ created_by }) => <Person person={created_by} /> },
    { title: REFERENCE_TITLE, cell: ({ reference }) => <MerchantText text={reference} /> },
  ];
  return (
    <>
      <Rows label="To be decided" columns={columns} rows={payouts} empty="" />
      <Sum payouts={payouts} />
    </>
  );
}

/** The number and the total, in figures and words. */
function Sum({ payouts, what = '' }: { readonly payouts: readonly Money[]; readonly what?: string }) {
  const sum = payouts.reduce((total, { amount }) => total + amount, 0);
  const currency = payouts[0]?.currency ?? '';
  return (
    <div>
      <Text fw={600}>
        {payouts.length === 1 ? 'One payout' : `${payouts.length} payouts`}
        {what}: <Amount amount={sum} currency={currency} />
      </Text>
      <Text size="sm" c="dimmed">
        {amountInWords(sum, currency)}
      </Text>
    </div>
  );
}

type OutcomesProps = {
  readonly outcomes: readonly Outcome[];
  readonly payouts: readonly PayoutObject[];
  /** The decision on each. */
  readonly done: string;
};

export function Outcomes({ outcomes, payouts, done }: OutcomesProps) {
  const referenceOf = (id: string) => payouts.find((payout) => payout.id === id)?.reference ?? id;
  const columns: readonly Column<Outcome>[] = [
    {
      title: 'Outcome',
      cell: ({ payout, error }) =>
        payout === null ? (
          <Text c="red">{error instanceof Error ? error.message : `It was not ${done}.`}</Text>
        ) : payout.approval_state === 'pending' ? (
          <>Approved by you; it waits for another person.</>
        ) : (
          <StateBadge state={payout.state} />
        ),
    },
    { title: REFERENCE_TITLE, cell: ({ id }) => <MerchantText text={referenceOf(id)} /> },
  ];
  const decided = outcomes.flatMap(({ payout }) =>
    payout === null || payout.approval_state === 'pending' ? [] : [payout],
  );
  return (
    <>
      <Rows label="Outcomes" columns={columns} rows={outcomes} empty="" />
      {decided.length > 0 && <Sum payouts={decided} what={` ${done}`} />}
    </>
  );
}
