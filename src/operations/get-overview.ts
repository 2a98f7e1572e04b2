// Reads what the home page of the console shows of a merchant.
import type { Database, Queryable } from '../db/platform/database.ts';
import { countQueued, countWaitingFor } from '../db/payments/approval.ts';
import { getBalance } from '../db/payments/ledger.ts';
import { countPayments, listTotals } from '../db/payments/totals.ts';
import { listEndpoints } from '../db/webhooks/endpoint.ts';
import { holdsOneOf, type Person } from '../domain/accounts/member.ts';
import type { MerchantId } from '../domain/ids.ts';
import { OPERATOR_IDS } from '../domain/payments/operator-catalogue.ts';
import {
  mergeTotals,
  operatorHealth,
  quarterOf,
  QUARTER_MS,
  successRate,
  type PaymentTotal,
} from '../domain/payments/totals.ts';
import { spansAt } from '../domain/time-zone.ts';
import { MAX_WAITING_SHOWN } from '../domain/payments/approval.ts';
import { MAX_ENDPOINTS_PER_MERCHANT, type Endpoint } from '../domain/webhooks/endpoint.ts';
import { countProposals } from '../db/accounts/waiting-proposals.ts';

export type Overview = Awaited<ReturnType<typeof getOverview>>;

/** Payments that were created in a span of time, in the states that they have now. */
export type SpanTotals = { readonly from: Date; readonly to: Date; readonly totals: readonly PaymentTotal[] };

const STATEMENT_TIMEOUT_MS = 5000;
const HOUR_MS = 3_600_000;

/** The overview for this person, all of it as of one instant; the days are those of the time zone. */
export async function getOverview(db: Database, person: Person, timeZone: string, at: Date) {
  const { merchantId } = person;
  return db.withLongReads({ statementTimeoutMs: STATEMENT_TIMEOUT_MS, atOneMoment: true }, async (reads) => {
    const balance = await getBalance(reads, merchantId);
    const spans = spansAt(at, timeZone);
    const endpoints = await listEndpoints(reads, merchantId, null, MAX_ENDPOINTS_PER_MERCHANT);
    return {
      asOf: at,
      balance,
      today: await totalsOf(reads, merchantId, spans.today, at),
      weekAgo: await totalsOf(reads, merchantId, spans.weekAgoFrom, spans.weekAgoTo),
      operators: await operatorsOf(reads, merchantId, at),
      ...(await waitingOf(reads, person, at)),
      /** Those to which everything fails, or that were disabled for that. */
      failingEndpoints: endpoints.items.filter(isFailing),
    };
  });
}

function isFailing({ failingSince, disabledReason }: Endpoint): boolean {
  return failingSince !== null || disabledReason === 'failing' || disabledReason === 'answered_gone';
}

async function waitingOf(db: Queryable, person: Person, at: Date) {
  const counted = { at, limit: MAX_WAITING_SHOWN };
  const mayApprove = holdsOneOf(person.roles, ['approver']);
  const countFor = async (kind: 'payout' | 'reversal') => {
    const own = mayApprove ? await countWaitingFor(db, kind, person, counted) : 0;
    return [own, (await countQueued(db, kind, person.merchantId, counted)) - own] as const;
  };
  const [payouts, otherPayouts] = await countFor('payout');
  const [reversals, otherReversals] = await countFor('reversal');
  return {
    /** What the person may approve, and neither made nor approved. Of payouts and reversals at most `MAX_WAITING_SHOWN` are counted. */
    waitsForYou: { payouts, reversals, ...(await countProposals(db, person, at)) },
    /** What else waits for an approval. */
    waitsForOthers: { payouts: otherPayouts, reversals: otherReversals },
  };
}

// Whole quarters of an hour come from the totals, and the rest of the last one from its payments.
async function totalsOf(db: Queryable, merchantId: MerchantId, from: Date, to: Date): Promise<SpanTotals> {
  const lastQuarter = quarterOf(to);
  const whole = await listTotals(db, merchantId, { from, to: lastQuarter });
  const rest = await countPayments(db, merchantId, { from: lastQuarter, to });
  return { from, to, totals: mergeTotals([...whole, ...rest]) };
}

async function operatorsOf(db: Queryable, merchantId: MerchantId, at: Date) {
  const to = new Date(quarterOf(at).getTime() + QUARTER_MS);
  const since = (ms: number) => listTotals(db, merchantId, { from: quarterOf(new Date(at.getTime() - ms)), to });
  const [lastDay, lastHour] = [await since(24 * HOUR_MS), await since(HOUR_MS)];
  return OPERATOR_IDS.map((operator) => {
    const isOwn = (total: PaymentTotal) => (total.operator as string) === operator;
    const own = lastDay.filter(isOwn);
    return {
      operator,
      /** Of the payments of the last 24 hours whose outcome is known; null without any. */
      collectionSuccessRate: successRate(own, 'collection'),
      payoutSuccessRate: successRate(own, 'payout'),
      /** By the payments of the last hour. */
      health: operatorHealth(lastHour.filter(isOwn)),
    };
  });
}
