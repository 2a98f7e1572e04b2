// Reads ledger entries for the statement of a merchant's accounts.
import type { MerchantId } from '../../domain/ids.ts';
import {
  entrySide,
  POSTING_KINDS,
  STATEMENT_ACCOUNTS,
  type LedgerEntry,
  type PostingKind,
  type StatementAccount,
} from '../../domain/payments/ledger.ts';
import { composedStatement, type Queryable } from '../platform/database.ts';
import { conditionsOf, readPage, type ListRange, type Page } from '../platform/page.ts';

export type LedgerEntryFilter = ListRange<string> & {
  readonly account?: StatementAccount;
  readonly kind?: PostingKind;
  /** The id of a collection or payout. */
  readonly paymentId?: string;
};

/**
 * A page of the newest entries of the merchant's accounts that pass the filter; none for another merchant's payment. The entries of one
 * account are in the order in which they were posted, so each balance is the balance of the entry before plus the amount.
 */
export async function listLedgerEntries(
  db: Queryable,
  merchantId: MerchantId,
  filter: LedgerEntryFilter,
  limit: number,
): Promise<Page<LedgerEntry>> {
  const { account, kind, paymentId, createdFrom, createdTo, before } = filter;
  const { conditions, values } = conditionsOf(3, [
    ['t.payment_id = ?', paymentId],
    ['t.posted_at >= ?', createdFrom],
    ['t.posted_at < ?', createdTo],
    [BEFORE_ENTRY, before],
  ]);
  const parts = STATEMENT_ACCOUNTS.filter((name) => account === undefined || name === account).flatMap((name) =>
    POSTING_KINDS.filter((each) => kind === undefined || each === kind).flatMap((each) =>
      partOf(name, each, conditions),
    ),
  );
  if (parts.length === 0) return { items: [], nextBefore: null };
  const text = `
    SELECT e.id::text, e.account, e.kind, e.payment_id, p.reference, e.amount_minor,
           e.balance_minor, e.currency, e.posted_at
    FROM (SELECT * FROM (${parts.join(' UNION ALL ')}) AS parts ORDER BY posted_at DESC, id DESC LIMIT $1) AS e
      JOIN payments p ON p.id = e.payment_id
    ORDER BY e.posted_at DESC, e.id DESC`;
  const query = composedStatement('ledger_entry_list', text);
  return readPage(limit, (count) => db.run<LedgerEntry>(query, [count, merchantId, ...values]));
}

const ID_OFFSETS: Readonly<Record<StatementAccount, number>> = { available: 0, held: 1 };

// Reads one kind of transfer on one side of one account, by one index range from its end.
function partOf(account: StatementAccount, kind: PostingKind, conditions: string): string[] {
  const side = entrySide(kind, account);
  if (side === null) return [];
  const id = `t.id * 2 + ${ID_OFFSETS[account]}`;
  return [
    `(SELECT ${id} AS id, '${account}' AS account, t.kind, t.payment_id,
        ${side === 'debit' ? '-' : ''}t.amount_minor AS amount_minor,
        t.${side}_balance_minor AS balance_minor, t.currency, t.posted_at
      FROM ledger_transfers t
      WHERE t.${side}_account_id = $2::text || '/${account}' AND t.${side}_entry IS NOT NULL
        AND t.kind = '${kind}'${conditions.replaceAll('{id}', id)}
      ORDER BY t.posted_at DESC LIMIT $1)`,
  ];
}

// The place of an entry is the time of its transfer and, for entries at the same time, its id.
const POSTED_AT = '(SELECT posted_at FROM ledger_transfers WHERE id = ?::bigint / 2)';
const BEFORE_ENTRY = `t.posted_at <= ${POSTED_AT} AND (t.posted_at < ${POSTED_AT} OR {id} < ?::bigint)`;
