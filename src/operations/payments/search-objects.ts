// Searches the objects of a merchant by what a person has in hand.
import type { Database } from '../../db/platform/database.ts';
import { findHits } from '../../db/payments/search.ts';
import { isId, type MerchantId } from '../../domain/ids.ts';
import { readTypedPhone } from '../../domain/payments/typed-phone.ts';
import { FOUND_BY, MOST_HITS, type FoundBy, type HitKind, type SearchHit } from '../../domain/payments/search.ts';

const KIND_OF_PREFIX = {
  col: 'collection',
  pay: 'payout',
  rev: 'reversal',
  evt: 'event',
  dlv: 'delivery',
  whe: 'endpoint',
  key: 'api_key',
  chk: 'checkout',
  req: 'api_request',
} as const satisfies Readonly<Record<string, HitKind>>;

const PAYMENTS: readonly HitKind[] = ['collection', 'payout'];
/** An id names its kind. */
const KINDS_FOUND_BY: Readonly<Record<FoundBy, readonly HitKind[]>> = {
  id: [],
  request_id: PAYMENTS,
  operator_reference: [...PAYMENTS, 'reversal'],
  operator_receipt: PAYMENTS,
  idempotency_key: PAYMENTS,
  reference: [...PAYMENTS, 'checkout'],
  phone: PAYMENTS,
  reference_prefix: [...PAYMENTS, 'checkout'],
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MAX_REFERENCE = 100;

export type Searcher = {
  readonly merchantId: MerchantId;
  /** In which a number without country code may be. */
  readonly countries: readonly string[];
  /** Whether the request log is theirs to read. */
  readonly readsRequests: boolean;
};

/** At most 20 objects, the most certain first. In capitals or small letters is the same, but for a receipt that has both. */
export async function searchObjects(db: Database, searcher: Searcher, text: string): Promise<SearchHit[]> {
  const { merchantId } = searcher;
  const hits: SearchHit[] = [];
  const id = idIn(text);
  if (id && (id.kind !== 'api_request' || searcher.readsRequests)) {
    hits.push(...(await findHits(db, merchantId, { kind: id.kind, foundBy: 'id' }, id.text)));
  }
  for (const foundBy of FOUND_BY) {
    const found: SearchHit[] = [];
    for (const wanted of textsFor(foundBy, text, searcher.countries)) {
      if (hits.length >= MOST_HITS) continue;
      for (const kind of KINDS_FOUND_BY[foundBy])
        found.push(...(await findHits(db, merchantId, { kind, foundBy }, wanted)));
    }
    if (foundBy !== 'reference_prefix') found.sort((one, other) => other.createdAt.getTime() - one.createdAt.getTime());
    hits.push(...found.filter((hit) => !hits.some((known) => known.id === hit.id)));
  }
  return hits.slice(0, MOST_HITS);
}

function idIn(text: string): { readonly kind: HitKind; readonly text: string } | null {
  const lower = text.toLowerCase();
  const prefix = lower.slice(0, 3) as keyof typeof KIND_OF_PREFIX;
  const kind = KIND_OF_PREFIX[prefix] as HitKind | undefined;
  return kind !== undefined && isId(prefix, lower) ? { kind, text: lower } : null;
}

/** What would have to be found in this way; none: nothing can be. */
function textsFor(foundBy: FoundBy, text: string, countries: readonly string[]): readonly string[] {
  switch (foundBy) {
    // An id names its kind, and is looked for there alone.
    case 'id':
      return [];
    case 'request_id': {
      const id = idIn(text);
      return id?.kind === 'api_request' ? [id.text] : [];
    }
    case 'operator_reference':
      return UUID.test(text) ? [text.toLowerCase()] : [];
    case 'operator_receipt':
      return /^[\w.-]{1,64}$/.test(text) ? inEitherCase(text) : [];
    case 'idempotency_key':
      return /^[\x21-\x7e]{1,255}$/.test(text) ? [text] : [];
    case 'phone':
      return phonesIn(text, countries);
    case 'reference':
    case 'reference_prefix':
      return text.length <= MAX_REFERENCE ? [text] : [];
  }
}

/** The index of receipts keeps their case: as it was typed, and all in one case, as receipts are. */
function inEitherCase(text: string): readonly string[] {
  return [...new Set([text, text.toLowerCase(), text.toUpperCase()])];
}

/** Every number that it may be: all of them are shown, so nothing is guessed. */
function phonesIn(text: string, countries: readonly string[]): readonly string[] {
  const read = readTypedPhone(text, countries);
  if (read.kind === 'ambiguous') return read.phones.map(({ digits }) => digits);
  if (read.kind === 'phone') return [read.phone.digits];
  // One that was a number when it was paid.
  const digits = text.replace(/[\s()+-]/g, '');
  return /^[1-9][0-9]{7,14}$/.test(digits) ? [digits] : [];
}
