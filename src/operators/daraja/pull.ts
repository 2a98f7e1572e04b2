// Customers' payments, as Daraja's Pull lists them. If the response with a prompt's id is lost, only this list shows that it was paid.
import { z } from 'zod';
import type { HttpRequest, HttpResult } from '../http-client.ts';
import type { MayCallAgain, StatusOutcome } from '../port.ts';
import { accountReferenceOf } from './account-reference.ts';
import { post } from './requests.ts';
import { unanswered } from './statuses.ts';
import { amountIn, codeIn, listedPhoneIn, receiptIn } from './values.ts';

export type PaidList = {
  /** The status that the list gives of the prompt sent at `sentAt`. Null: the list has no such row, which proves nothing. */
  find(operatorReference: string, sentAt: Date, mayCallAgain: MayCallAgain): Promise<StatusOutcome | null>;
};

type PaidListConfig = {
  readonly call: (request: HttpRequest) => Promise<HttpResult>;
  readonly shortcode: string;
  readonly nowMs: () => number;
};

type Unknown = Extract<StatusOutcome, { kind: 'unknown' }>;
/** The outcomes of the rows by account reference, as JSON: a row that is listed twice counts once. */
type Rows = ReadonlyMap<string, ReadonlySet<string>>;
type Listing = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly rows: Promise<Rows | Unknown>;
  endedAtMs: number | null;
};

const NAIROBI_OFFSET_MS = 3 * 60 * 60_000;
const REACH_MS = 48 * 60 * 60_000;
/** The clocks of Daraja and of the senders may differ. */
const BEFORE_SEND_MS = 60_000;
/** Lists begin at multiples of this time, so that a list also has payments sent a little earlier. */
const ROUND_MS = 10 * 60_000;
const SHARED_MS = 5000;
const MOST_PAGES = 1000;
const NO_CALL_FREE: Unknown = { kind: 'unknown', reason: 'not listed further: no call is free' };

/**
 * Within this process one list answers for all payments that are searched for during its requests and a few seconds after. A list is
 * complete or not used at all: a second row with the same reference may be on any page. The first page is the granted call of the payment
 * that begins the list, and each further page needs a grant of its own.
 */
export function createPaidList(config: PaidListConfig): PaidList {
  const { nowMs } = config;
  let held: Listing | null = null;

  function listingFor(sentAtMs: number, mayCallAgain: MayCallAgain): Listing {
    const toMs = nowMs();
    const roundMs = Math.floor((sentAtMs - BEFORE_SEND_MS) / ROUND_MS) * ROUND_MS;
    const fromMs = Math.max(roundMs, toMs - REACH_MS);
    const isFresh = held !== null && (held.endedAtMs === null || held.endedAtMs + SHARED_MS > toMs);
    if (held !== null && isFresh && held.fromMs <= fromMs && held.toMs >= sentAtMs) return held;
    const listing: Listing = { fromMs, toMs, endedAtMs: null, rows: listAll({ fromMs, toMs }, config, mayCallAgain) };
    held = listing;
    void listing.rows.then((rows) => {
      listing.endedAtMs = nowMs();
      if ('kind' in rows && held === listing) held = null;
    });
    return listing;
  }

  return {
    async find(operatorReference, sentAt, mayCallAgain) {
      const rows = await listingFor(sentAt.getTime(), mayCallAgain).rows;
      if ('kind' in rows) return rows;
      const found = [...(rows.get(accountReferenceOf(operatorReference)) ?? [])];
      if (found.length > 1) return { kind: 'unreadable', reason: 'listed as paid more than once' };
      return found[0] === undefined ? null : (JSON.parse(found[0]) as StatusOutcome);
    },
  };
}

async function listAll(
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  { call, shortcode }: PaidListConfig,
  mayCallAgain: MayCallAgain,
): Promise<Rows | Unknown> {
  const rows = new Map<string, Set<string>>();
  const seen = new Set<string>();
  const query = { ShortCode: shortcode, StartDate: nairobiTime(fromMs), EndDate: nairobiTime(toMs + 999) };
  let offset = 0;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    if (pages > 0 && !(await mayCallAgain())) return NO_CALL_FREE;
    const page = readPage(await call(post('/pulltransactions/v1/query', { ...query, OffSetValue: String(offset) })));
    if ('kind' in page) return page;
    const before = seen.size;
    for (const row of page) {
      const { receipt, reference, outcome } = row;
      seen.add(JSON.stringify([receipt, reference, outcome]));
      if (reference !== null) rows.set(reference, (rows.get(reference) ?? new Set()).add(JSON.stringify(outcome)));
    }
    // Past the last page Daraja returns no rows, or rows of earlier pages.
    if (seen.size === before) return rows;
    offset += page.length;
  }
  return { kind: 'unknown', reason: 'the list of paid prompts does not end' };
}

const any = z.unknown().optional();
const pageBody = z.object({ ResponseCode: z.unknown(), Response: any });
const rowBody = z.object({
  transactionId: any,
  msisdn: any,
  transactiontype: any,
  billreference: any,
  amount: any,
});
// In Daraja's documents the rows are in a nested array.
const rowLists = z.array(z.union([rowBody, z.array(rowBody)])).transform((list) => list.flat());

const LISTED = '1000';
const NOTHING_LISTED = '1001';

type Row = { readonly reference: string | null; readonly receipt: string | null; readonly outcome: StatusOutcome };

function readPage(response: HttpResult): readonly Row[] | Unknown {
  if (response.kind === 'no_response') return { ...response, kind: 'unknown' };
  const { status, body } = response;
  const page = pageBody.safeParse(body.kind === 'json' ? body.value : null);
  const code = page.success ? codeIn(page.data.ResponseCode) : null;
  if (status !== 200 || code === null) return unanswered(response, 'no_answer');
  if (code === NOTHING_LISTED) return [];
  if (code !== LISTED) return { kind: 'unknown', reason: `list with code ${code}` };
  const rows = rowLists.safeParse(page.data?.Response);
  return rows.success ? rows.data.map(readRow) : { kind: 'unknown', reason: 'list that cannot be read' };
}

const REFERENCE = /^[0-9A-Z]{1,20}$/;
/** A payment to a till or a paybill number. */
const PAID_BY_CUSTOMER = /^c2b-/i;

function readRow(row: z.infer<typeof rowBody>): Row {
  const { transactionId, msisdn, transactiontype, billreference } = row;
  const text = typeof billreference === 'string' ? billreference.trim().toUpperCase() : '';
  const reference = REFERENCE.test(text) ? text : null;
  const [receipt, amount, phone] = [receiptIn(transactionId), amountIn(row.amount), listedPhoneIn(msisdn)];
  const named = { reference, receipt };
  if (typeof transactiontype !== 'string' || !PAID_BY_CUSTOMER.test(transactiontype)) {
    return { ...named, outcome: { kind: 'unreadable', reason: 'listed as another type of transaction' } };
  }
  if (receipt === null || amount === null || phone === null) {
    return { ...named, outcome: { kind: 'paid_unreadable', receipt, reason: 'listed as paid, and not whole' } };
  }
  const paid = { amount, currency: 'KES' };
  return { ...named, outcome: { kind: 'succeeded', receipt, paid, ...(phone !== 'hidden' && { phone }) } };
}

/** yyyy-MM-dd HH:mm:ss in Nairobi, which never changes its offset. */
function nairobiTime(atMs: number): string {
  return new Date(atMs + NAIROBI_OFFSET_MS).toISOString().slice(0, 19).replace('T', ' ');
}
