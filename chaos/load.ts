// Carries out the planned payments: requests them, and lets people decide on payouts and refunds.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, Response } from './client.ts';
import type { Merchant } from './merchants.ts';
import { PAID_ROW, type PlannedPayment } from './plan.ts';
import { MPESA, MTN, phoneOf } from './wires.ts';

type LoadOptions = {
  readonly client: Client;
  readonly merchants: readonly Merchant[];
  readonly startMs: number;
};

const MOST_UNDER_WAY = 300;
const CALLERS_AT_ONCE = 3;
const BATCH = 2;
const LOOK_EVERY_MS = 2000;
const REVERSAL_LIMIT_MS = 60_000;
/** The funds of each merchant for payouts: the largest amount that MTN Uganda collects at once, a few times. */
const FUNDING = { times: 3, amount: 5_000_000 };
const FUNDING_LIMIT_MS = 60_000;

/** Resolves when every payment was requested and decided, if responses came. */
export async function runLoad(plan: readonly PlannedPayment[], options: LoadOptions): Promise<void> {
  const load = createLoad(options);
  const underWay = new Set<Promise<void>>();
  for (const payment of plan) {
    await sleep(Math.max(0, options.startMs + payment.atMs - Date.now()));
    while (underWay.size >= MOST_UNDER_WAY) await Promise.race(underWay);
    const done = load.carryOut(payment).finally(() => underWay.delete(done));
    underWay.add(done);
  }
  await Promise.all(underWay);
  await load.releaseRest();
}

/** The object of people's decisions. */
type Decided = { readonly noun: 'payouts' | 'reversals'; readonly id: string };

function createLoad({ client, merchants }: LoadOptions) {
  // Payouts that wait for another one, to be released together.
  const waiting = new Map<Merchant, string[]>();

  async function carryOut(payment: PlannedPayment): Promise<void> {
    const merchant = merchants[payment.merchant];
    if (!merchant) throw new Error(`there is no merchant ${payment.merchant}`);
    const response = await create(client, merchant, payment);
    if (response?.status !== 202) return;
    const { id } = JSON.parse(response.body) as { id: string };
    if (payment.kind === 'payout') {
      await sleep(payment.thoughtMs);
      await decide(merchant, { noun: 'payouts', id }, payment);
    } else if (payment.isReversed) await reverse(merchant, id, payment);
  }

  async function decide(merchant: Merchant, { noun, id }: Decided, { decision, index }: PlannedPayment): Promise<void> {
    const [first, second] = merchant.approvers;
    const releaseBy = (person: typeof first, name: string) =>
      client.asPerson(merchant, person, {
        action: 'release',
        key: `release-${noun}-${index}-${name}`,
        subjects: [id],
        path: `/v1/console/${noun}/${id}/release`,
        body: null,
      });
    const end = (person: typeof first, action: 'reject' | 'cancel') =>
      client.asPerson(merchant, person, {
        action,
        key: null,
        subjects: [id],
        path: `/v1/console/${noun}/${id}/${action}`,
        body: action === 'reject' ? { reason: 'Not this one.' } : null,
      });
    const releaseByAll = async () => {
      const released = await releaseBy(first, 'a');
      if (released?.status === 200 && released.body.includes('"state":"queued"')) await releaseBy(second, 'b');
    };
    switch (decision) {
      case 'release':
        await releaseByAll();
        return;
      case 'release_twice':
        await Promise.all([releaseBy(first, 'a'), releaseBy(second, 'b')]);
        return;
      case 'release_in_batch':
        await (noun === 'payouts' ? releaseTogether(merchant, id) : releaseByAll());
        return;
      case 'race':
        await Promise.all([releaseBy(first, 'a'), end(merchant.maker, 'cancel')]);
        return;
      case 'reject':
        await end(first, 'reject');
        return;
      case 'cancel':
        await end(merchant.maker, 'cancel');
        return;
      case 'leave':
    }
  }

  async function releaseTogether(merchant: Merchant, id: string): Promise<void> {
    const ids = [...(waiting.get(merchant) ?? []), id];
    waiting.set(merchant, ids.length < BATCH ? ids : []);
    if (ids.length >= BATCH) await releaseMany(merchant, ids);
  }

  async function releaseMany(merchant: Merchant, ids: readonly string[]): Promise<void> {
    // One after the other: a payout above the merchant's limit needs both of them.
    for (const [number, approver] of merchant.approvers.entries()) {
      await client.asPerson(merchant, approver, {
        action: 'release_many',
        key: `release-${ids.join('-')}-${number}`,
        subjects: ids,
        path: '/v1/console/payouts/release',
        body: { ids },
      });
    }
  }

  async function reverse(merchant: Merchant, id: string, payment: PlannedPayment): Promise<void> {
    const { index } = payment;
    if (!(await isPaid(client, merchant, id, REVERSAL_LIMIT_MS))) return;
    const requested = await client.asPerson(merchant, merchant.maker, {
      action: 'reversal',
      key: `reversal-${index}`,
      subjects: [id],
      path: `/v1/console/collections/${id}/reversal`,
      body: null,
    });
    if (requested?.status !== 202) return;
    const { id: reversalId } = JSON.parse(requested.body) as { id: string };
    await decide(merchant, { noun: 'reversals', id: reversalId }, payment);
  }

  return {
    carryOut,
    async releaseRest() {
      for (const [merchant, ids] of waiting) if (ids.length > 0) await releaseMany(merchant, ids);
    },
  };
}

async function create(client: Client, merchant: Merchant, payment: PlannedPayment): Promise<Response | null> {
  const { kind, index, phone, amount, amountStep, repetition } = payment;
  const fields = { phone, amount, reference: `chaos-${index}`, metadata: { index: String(index) } };
  const request = (body: object) =>
    client.asMerchant(merchant, {
      action: kind,
      key: `${kind}-${index}`,
      subjects: [],
      path: `/v1/api/${kind}s`,
      body,
    });
  if (repetition === 'concurrent') {
    const responses = await Promise.all(Array.from({ length: CALLERS_AT_ONCE }, () => request(fields)));
    return responses.find((response) => response?.status === 202) ?? null;
  }
  const response = await request(fields);
  if (repetition === 'repeated') await request(fields);
  if (repetition === 'conflicting' && response?.status === 202)
    await request({ ...fields, amount: amount + amountStep });
  return response;
}

/** Gives every merchant money to pay out, by ordinary collections. Rejects if they are not paid in time. */
export async function fundMerchants(client: Client, merchants: readonly Merchant[], planned: number): Promise<void> {
  await Promise.all(
    merchants.flatMap((merchant, number) =>
      Array.from({ length: FUNDING.times }, async (_, time) => {
        const index = planned + number * FUNDING.times + time;
        const phone = phoneOf(index, PAID_ROW, merchant.currency === MPESA.currency ? MPESA : MTN);
        const response = await client.asMerchant(merchant, {
          action: 'collection',
          key: `funding-${index}`,
          subjects: [],
          path: '/v1/api/collections',
          body: { phone, amount: FUNDING.amount, reference: 'funding' },
        });
        const { id } = JSON.parse(response?.body ?? '{}') as { id?: string };
        if (id === undefined || !(await isPaid(client, merchant, id, FUNDING_LIMIT_MS))) {
          throw new Error(`the merchants could not be funded: ${response?.body ?? 'no response'}`);
        }
      }),
    ),
  );
}

async function isPaid(client: Client, merchant: Merchant, id: string, limitMs: number): Promise<boolean> {
  const giveUpAtMs = Date.now() + limitMs;
  while (Date.now() < giveUpAtMs) {
    const shown = await client.read(merchant, `/v1/api/collections/${id}`);
    if (shown?.state === 'succeeded') return true;
    if (shown !== null && ['failed', 'expired', 'reversed'].includes(shown.state)) return false;
    await sleep(LOOK_EVERY_MS);
  }
  return false;
}
