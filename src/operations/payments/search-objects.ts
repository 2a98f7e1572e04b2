// Searches the objects of a merchant by a text that a person enters.
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
/** The kinds to search by each way. None by id, because an id names its kind. */
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
  /** The countries in which a number without country code may be. */
  readonly countries: readonly string[];
  /** Whether the person may read the request log. */
  readonly readsRequests: boolean;
};

/** At most 20 objects, the most certain first. Ignores case, except for a receipt in mixed case. */
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

/** The texts to search for in this way; none if the text cannot match. */
function textsFor(foundBy: FoundBy, text: string, countries: readonly string[]): readonly string[] {
  switch (foundBy) {
    // An id names its kind, so the search for it is separate.
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

/** The text as typed, in lowercase and in uppercase: the index of receipts keeps their case, and receipts are usually in one case. */
function inEitherCase(text: string): readonly string[] {
  return [...new Set([text, text.toLowerCase(), text.toUpperCase()])];
}

/** Every number that the text may mean: the search shows all matches, so it guesses none. */
function phonesIn(text: string, countries: readonly string[]): readonly string[] {
  const read = readTypedPhone(text, countries);
  if (read.kind === 'ambiguous') return read.phones.map(({ digits }) => digits);
  if (read.kind === 'phone') return [read.phone.digits];
  // A number that was valid when it was paid.
  const digits = text.replace(/[\s()+-]/g, '');
  return /^[1-9][0-9]{7,14}$/.test(digits) ? [digits] : [];
}
