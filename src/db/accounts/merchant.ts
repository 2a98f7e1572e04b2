// Rows of merchants, each inserted together with its ledger accounts.
import { availableAccount, heldAccount } from '../../domain/payments/ledger.ts';
import type { MerchantId } from '../../domain/ids.ts';
import type { Currency } from '../../domain/money.ts';
import { findOne, statement, type Queryable, type Tx } from '../platform/database.ts';

const INSERT = statement('merchant_insert')`
  WITH merchant AS (INSERT INTO merchants (id, name, currency, created_at) VALUES ($1, $2, $3, $4))
  INSERT INTO ledger_accounts (id, kind, merchant_id, currency, balance_minor)
  VALUES ($5, 'available', $1, $3, 0), ($6, 'held', $1, $3, 0)`;

export async function insertMerchant(tx: Tx, merchant: ListedMerchant): Promise<void> {
  await tx.run(INSERT, [
    merchant.id,
    merchant.name,
    merchant.currency,
    merchant.createdAt,
    availableAccount(merchant.id),
    heldAccount(merchant.id),
  ]);
}

const FIND_NAME = statement('merchant_find_name')`SELECT name FROM merchants WHERE id = $1`;

/** The name of an existing merchant. */
export async function findMerchantName(db: Queryable, id: MerchantId): Promise<string> {
  const row = await findOne<{ name: string }>(db, FIND_NAME, [id]);
  if (row === null) throw new Error(`there is no merchant ${id}`);
  return row.name;
}

const LIST = statement('merchant_list')`
  SELECT id, name, currency, created_at FROM merchants
  WHERE id > $1 AND strpos(lower(name), lower($2)) > 0 ORDER BY id LIMIT $3`;

export type ListedMerchant = {
  readonly id: MerchantId;
  readonly name: string;
  readonly currency: Currency;
  readonly createdAt: Date;
};

/** Merchants whose name contains the text, by id after `after`. Only for the service's staff. */
export async function listMerchants(
  db: Queryable,
  { after, name, limit }: { readonly after: string; readonly name: string; readonly limit: number },
): Promise<ListedMerchant[]> {
  return db.run<ListedMerchant>(LIST, [after, name, limit]);
}

const PAGE = 200;

/** All merchants in the order of their creation, read page by page. */
export async function* listAllMerchants(db: Queryable): AsyncGenerator<ListedMerchant> {
  for (let after = ''; ;) {
    const page = await listMerchants(db, { after, name: '', limit: PAGE });
    yield* page;
    after = page.at(-1)?.id ?? '';
    if (page.length < PAGE) return;
  }
}
