// Records that an operator says of sent money what contradicts how it ended.
import { insertDiscrepancy } from '../db/discrepancy.ts';
import type { Database } from '../db/database.ts';
import { findPayout } from '../db/payout.ts';
import { findReversal } from '../db/reversal.ts';
import type { SentMoney } from '../db/sent-money.ts';
import type { OperatorWord } from '../domain/operator-word.ts';
import { contradictionIn, type Contradiction } from '../domain/sent-money.ts';

export type RecordDiscrepancy = { readonly sent: SentMoney; readonly word: OperatorWord; readonly at: Date };

/**
 * What the word contradicts, or null when it contradicts nothing that is recorded now. One transaction keeps it, once
 * however often it is heard, and moves no money: what follows is for a person to decide.
 */
export async function recordDiscrepancy(
  db: Database,
  { sent, word, at }: RecordDiscrepancy,
): Promise<Contradiction | null> {
  return db.withTransaction(async (tx) => {
    const { merchantId } = sent;
    const row =
      sent.table === 'payouts'
        ? await findPayout(tx, merchantId, sent.id)
        : await findReversal(tx, merchantId, sent.id);
    const kind = row && contradictionIn(row.state, word);
    if (kind === null) return null;
    const operatorReceipt = 'operatorReceipt' in word ? word.operatorReceipt : null;
    await insertDiscrepancy(tx, { ...sent, kind, operatorReceipt, foundAt: at });
    return kind;
  });
}
