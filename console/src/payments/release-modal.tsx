// Releasing one or several payouts: what goes out, as it is now, and then what became of each.
import { Alert, Button, Group, Loader, Modal, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { Amount } from '../ui/amount.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { amountInWords } from '../ui/format.ts';
import { Rows, type Column } from '../ui/rows.tsx';
import { Person } from '../ui/person.tsx';
import { StateBadge } from '../ui/state-badge.tsx';
import { useAct } from '../ui/use-act.ts';
import { Phone } from './cells.tsx';
import { usePayoutDecisions } from './decide.ts';
import { WarningList } from './warnings.tsx';

type PayoutObject = Schemas['ConsolePayout'];
type Result = Schemas['ReleasedPayouts']['data'][number];
type ReleaseModalProps = { readonly payouts: readonly PayoutObject[]; readonly onClose: () => void };

export function ReleaseModal({ payouts, onClose }: ReleaseModalProps) {
  const decisions = usePayoutDecisions();
  const [results, setResults] = useState<readonly Result[] | null>(null);
  // As they are now: what the list showed may be minutes old.
  const current = useQuery({
    queryKey: ['payouts to release', payouts.map(({ id }) => id)],
    queryFn: () => Promise.all(payouts.map(({ id }) => fetchPayout(id))),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const waiting = current.data?.filter(({ approval_state }) => approval_state === 'pending') ?? [];
  const changed = current.data?.filter(({ approval_state }) => approval_state !== 'pending') ?? [];
  const release = useAct(async () => {
    const { data } = await decisions.release(waiting.map(({ id }) => id));
    setResults(data);
  });
  return (
    <Modal opened onClose={onClose} title={results === null ? 'Release' : 'What became of it'} size="xl" centered>
      <Stack>
        {current.isPending && <Loader aria-label="Loading" />}
        <ErrorNotice error={current.error} />
        {results === null ? (
          <>
            {changed.length > 0 && (
              <Alert color="orange" title="Changed since the list was loaded, and not released">
                {changed.map(({ reference, state }) => `${reference}: ${state}`).join(', ')}
              </Alert>
            )}
            {waiting.length > 0 && <ToRelease payouts={waiting} />}
            <ErrorNotice error={release.error} />
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose} disabled={release.isBusy}>
                Back
              </Button>
              <Button onClick={() => release.run()} loading={release.isBusy} disabled={waiting.length === 0}>
                {waiting.length === 1 ? 'Release it' : `Release ${waiting.length} payouts`}
              </Button>
            </Group>
          </>
        ) : (
          <>
            <Results results={results} payouts={payouts} />
            <Group justify="flex-end">
              <Button onClick={onClose}>Close</Button>
            </Group>
          </>
        )}
      </Stack>
    </Modal>
  );
}

function fetchPayout(id: string): Promise<PayoutObject> {
  return answerOf(api.GET('/v1/console/payouts/{id}', { params: { path: { id } } }));
}

function ToRelease({ payouts }: { readonly payouts: readonly PayoutObject[] }) {
  const sum = payouts.reduce((total, { amount }) => total + amount, 0);
  const currency = payouts[0]?.currency ?? '';
  const columns: readonly Column<PayoutObject>[] = [
    { title: 'Payee', cell: ({ phone }) => <Phone phone={phone} /> },
    { title: 'Amount', isNumber: true, cell: ({ amount }) => <Amount amount={amount} currency={currency} /> },
    { title: 'Reference', cell: ({ reference }) => reference },
    { title: '', cell: ({ judgement }) => <WarningList judgement={judgement} currency={currency} /> },
    { title: 'Made by', cell: ({ created_by }) => <Person person={created_by} /> },
  ];
  return (
    <>
      <Rows label="To be released" columns={columns} rows={payouts} empty="" />
      <div>
        <Text fw={600}>
          {payouts.length === 1 ? 'One payout' : `${payouts.length} payouts`}:{' '}
          <Amount amount={sum} currency={currency} />
        </Text>
        <Text size="sm" c="dimmed">
          {amountInWords(sum, currency)}
        </Text>
      </div>
    </>
  );
}

function Results({
  results,
  payouts,
}: {
  readonly results: readonly Result[];
  readonly payouts: readonly PayoutObject[];
}) {
  const referenceOf = (id: string) => payouts.find((payout) => payout.id === id)?.reference ?? id;
  const columns: readonly Column<Result>[] = [
    { title: 'Reference', cell: ({ id }) => referenceOf(id) },
    {
      title: 'Outcome',
      cell: ({ payout, error }) =>
        payout === null ? (
          <Text c="red">{error?.message ?? 'It was not released.'}</Text>
        ) : payout.approval_state === 'pending' ? (
          <>Approved by you; it waits for another person.</>
        ) : (
          <StateBadge state={payout.state} />
        ),
    },
  ];
  return <Rows label="Outcomes" columns={columns} rows={results} empty="" />;
}
