// The home page: the balance, today's payments, and waiting work.
import { Alert, Anchor, Card, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import { Link } from 'wouter';
import { answerOf, api, type Schemas } from './api/client.ts';
import { useSession } from './session/session.ts';
import { Amount } from './ui/amount.tsx';
import { Loaded, Page, Part } from './ui/page.tsx';
import { MerchantText } from './ui/merchant-text.tsx';
import { OPERATOR_NAMES } from './ui/operator-names.ts';
import { StateBadge } from './ui/state-badge.tsx';
import { useCurrent } from './ui/polling.ts';

type Overview = Schemas['Overview'];
type Day = Overview['today'];

export function Home() {
  const named = Intl.DateTimeFormat().resolvedOptions().timeZone;
  // A browser's name for a time zone that it cannot determine.
  const timeZone = named === 'Etc/Unknown' ? 'UTC' : named;
  const query = useCurrent(['overview'], () =>
    answerOf(api.GET('/v1/console/overview', { params: { query: { time_zone: timeZone } } })),
  );
  return (
    <Page title="Home">
      <Loaded query={query}>
        {(overview) => (
          <Stack gap="xl">
            <NoRecoveryCodes />
            <FailingEndpoints endpoints={overview.failing_endpoints} />
            <Balance balance={overview.balance} />
            <Waiting others={overview.waits_for_others} />
            <Today today={overview.today} weekAgo={overview.week_ago} currency={overview.balance.currency} />
            <Operators operators={overview.operators} />
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

/** A person who loses their only factor waits for two of the service’s staff. */
function NoRecoveryCodes() {
  const { has_second_factor, factors } = useSession();
  if (!has_second_factor || factors.recovery_codes > 0) return null;
  return (
    <Alert color="blue" title="You have no recovery codes">
      They let you log in if you lose your second factor. Create some under{' '}
      <Anchor component={Link} inherit href="/security">
        Your security
      </Anchor>
      .
    </Alert>
  );
}

function FailingEndpoints({ endpoints }: { readonly endpoints: Overview['failing_endpoints'] }) {
  if (endpoints.length === 0) return null;
  return (
    <Alert color="red" title="Your server gets no webhooks">
      {endpoints.map(({ id, url, state }) => (
        <div key={id}>
          <Anchor component={Link} inherit href={`/endpoints/${id}`}>
            <MerchantText text={url} isLink />
          </Anchor>{' '}
          {state === 'disabled' ? 'is disabled' : 'has not accepted anything for a while'}
        </div>
      ))}
    </Alert>
  );
}

function Balance({ balance: { available, held, currency } }: { readonly balance: Overview['balance'] }) {
  const figures = [
    ['Available', available, 'Yours to pay out.'],
    ['Held', held, 'For payouts that are waiting or being sent.'],
  ] as const;
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} maw={640}>
      {figures.map(([title, amount, hint]) => (
        <Card key={title} withBorder>
          <Text size="sm" c="dimmed">
            {title}
          </Text>
          <Text fz="xl" fw={600}>
            <Amount amount={amount} currency={currency} />
          </Text>
          <Text size="sm" c="dimmed">
            {hint}
          </Text>
        </Card>
      ))}
    </SimpleGrid>
  );
}

function Waiting({ others }: { readonly others: Overview['waits_for_others'] }) {
  const { payouts, reversals, member_changes, invitations, policy_changes } = useSession().waits_for_you;
  const waiting: readonly (readonly [count: number, what: readonly [one: string, several: string], path: string])[] = [
    [payouts, ['payout to release', 'payouts to release'], '/approvals'],
    [reversals, ['refund to release', 'refunds to release'], '/approvals'],
    [invitations, ['invitation to approve', 'invitations to approve'], '/members'],
    [member_changes, ['change of a member to approve', 'changes of members to approve'], '/members'],
    [policy_changes, ['change of the policy to approve', 'changes of the policy to approve'], '/policy'],
    [others.payouts, ['payout that waits for others', 'payouts that wait for others'], '/approvals?show=others'],
    [others.reversals, ['refund that waits for others', 'refunds that wait for others'], '/approvals?show=others'],
  ];
  const open = waiting.filter(([count]) => count > 0);
  return (
    <Part title="Waiting" gap="xs">
      {open.length === 0 && <Text c="dimmed">Nothing is waiting.</Text>}
      {open.map(([count, [one, several], path]) => (
        <Anchor key={one} component={Link} href={path} w="fit-content">
          {count} {count === 1 ? one : several}
        </Anchor>
      ))}
    </Part>
  );
}

type TodayProps = { readonly today: Day; readonly weekAgo: Day; readonly currency: string };

function Today({ today, weekAgo, currency }: TodayProps) {
  const rows = [
    ['Collected', 'collection'],
    ['Paid out', 'payout'],
  ] as const;
  return (
    <Part title="Today, and a week ago until the same time" gap="xs">
      <div className="table-scroll" role="region" aria-label="Today" tabIndex={0}>
        <Table maw={640} aria-label="Today">
          <Table.Thead>
            <Table.Tr>
              <Table.Th />
              <Table.Th ta="right">Today</Table.Th>
              <Table.Th ta="right">A week ago</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(([label, kind]) => (
              <Table.Tr key={kind}>
                <Table.Th>{label}</Table.Th>
                {[today, weekAgo].map((day, index) => (
                  <Table.Td key={index} ta="right">
                    <Done day={day} kind={kind} currency={currency} />
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
    </Part>
  );
}

const OPEN_STATES: ReadonlySet<string> = new Set(['initiated', 'prompted', 'queued', 'released', 'reconciling']);

function countOf(totals: Day['totals']): number {
  return totals.reduce((sum, { count }) => sum + count, 0);
}

/** The successful share of the day's decided payments, and the number of the others. */
function Done({ day, kind, currency }: { readonly day: Day; readonly kind: string; readonly currency: string }) {
  const all = day.totals.filter((total) => total.kind === kind);
  const done = all.filter(({ state }) => state === 'succeeded');
  const open = all.filter(({ state }) => OPEN_STATES.has(state));
  const [succeeded, undecided, begun] = [done, open, all].map(countOf) as [number, number, number];
  return (
    <>
      <Amount amount={done.reduce((sum, { amount }) => sum + amount, 0)} currency={currency} />
      <Text size="sm" c="dimmed">
        {succeeded} of {begun - undecided} succeeded{undecided > 0 && `, ${undecided} in progress`}
      </Text>
    </>
  );
}

function Operators({ operators }: { readonly operators: Overview['operators'] }) {
  if (operators.length === 0) return null;
  const percent = (rate: number | null) => (rate === null ? '–' : `${Math.floor(rate * 100)} %`);
  return (
    <Part title="Operators, in the last 24 hours" gap="xs">
      {operators.map(({ operator, collection_success_rate, payout_success_rate, health }) => (
        <Text key={operator}>
          {OPERATOR_NAMES[operator] ?? operator} <StateBadge state={health} /> · collections that succeed:{' '}
          {percent(collection_success_rate)} · payouts: {percent(payout_success_rate)}
        </Text>
      ))}
    </Part>
  );
}
