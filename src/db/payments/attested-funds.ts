// Whether what a merchant spends came by operator statuses that processes of ours attested.
import type { MerchantId } from '../../domain/ids.ts';
import type { Queryable } from '../database.ts';
import { findAllUnattestedCredits, findUnattestedRefunds } from './attested-credit.ts';
import { findFunds, isCheckpointAttested } from './ledger-checkpoint.ts';

export type AttestedFunds = {
  /** Money of the available balance that no process of ours attested. */
  readonly unattestedMinor: bigint;
  /** What is left of the available balance without that money and without what pending refunds will take; below zero, more was spent. */
  readonly attestedMinor: bigint;
};

/**
 * The merchant's funds up to its newest entry, with all refunds that failed. Entries up to its checkpoint are not verified again if the checkpoint is attested. A credit
 * that is not attested is reported.
 */
export async function findAttestedFunds(db: Queryable, merchantId: MerchantId): Promise<AttestedFunds> {
  const funds = await findFunds(db, merchantId);
  const isChecked = isCheckpointAttested(db, funds);
  let unattestedMinor = isChecked ? funds.checkedUnattestedMinor : 0n;
  const { accountId, entry } = funds;
  const unattested = [
    ...(await findAllUnattestedCredits(db, { accountId, entry, after: isChecked ? funds.after : 0n })),
    ...(await findUnattestedRefunds(db, [merchantId])),
  ];
  for (const { ref, amountMinor } of unattested) {
    db.attestor.report({ table: 'ledger_transfers', key: ref.id });
    unattestedMinor += amountMinor;
  }
  return { unattestedMinor, attestedMinor: funds.spendableMinor - unattestedMinor };
}
