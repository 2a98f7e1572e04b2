// Searches the objects of a merchant by what a person has in hand.
import type { Database } from '../../db/database.ts';
import { findHits } from '../../db/payments/search.ts';
import { isId, type MerchantId } from '../../domain/ids.ts';
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
} as const satisfies Readonly<Record<string, HitKind>>;

const PAYMENTS: readonly HitKind[] = ['collection', 'payout'];
/** An id names its kind. */
const KINDS_FOUND_BY: Readonly<Record<FoundBy, readonly HitKind[]>> = {
  id: [],
  operator_reference: [...PAYMENTS, 'reversal'],
  operator_receipt: PAYMENTS,
  idempotency_key: PAYMENTS,
  reference: [...PAYMENTS, 'checkout'],
  phone: PAYMENTS,
  reference_prefix: [...PAYMENTS, 'checkout'],
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MAX_REFERENCE = 100;

/** At most 20 objects, the most certain first. */
export async function search(db: Database, merchantId: MerchantId, text: string): Promise<SearchHit[]> {
  const hits: SearchHit[] = [];
  const id = idIn(text);
  if (id) hits.push(...(await findHits(db, merchantId, { kind: id.kind, foundBy: 'id' }, id.text)));
  for (const foundBy of FOUND_BY) {
    const wanted = textFor(foundBy, text);
    if (wanted === null || hits.length >= MOST_HITS) continue;
    const found: SearchHit[] = [];
    for (const kind of KINDS_FOUND_BY[foundBy])
      found.push(...(await findHits(db, merchantId, { kind, foundBy }, wanted)));
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

/** What would have to be found in this way; null: nothing can be. */
function textFor(foundBy: FoundBy, text: string): string | null {
  switch (foundBy) {
    // An id names its kind, and is looked for there alone.
    case 'id':
      return null;
    case 'operator_reference':
      return UUID.test(text) ? text.toLowerCase() : null;
    case 'operator_receipt':
      return /^[\w.-]{1,64}$/.test(text) ? text : null;
    case 'idempotency_key':
      return /^[\x21-\x7e]{1,255}$/.test(text) ? text : null;
    case 'phone': {
      const digits = text.replace(/[\s()+-]/g, '');
      return /^[1-9][0-9]{7,14}$/.test(digits) ? digits : null;
    }
    case 'reference':
    case 'reference_prefix':
      return text.length <= MAX_REFERENCE ? text : null;
  }
}
