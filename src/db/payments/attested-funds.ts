// Whether operator statuses that processes of ours attested cover the money that a merchant spends.
import { DomainError } from '../../domain/errors.ts';
import type { MerchantId } from '../../domain/ids.ts';
import type { Queryable } from '../platform/database.ts';
import { findAllUnattestedCredits, findUnattestedRefunds } from './attested-credit.ts';
import { findFunds, isCheckpointAttested } from './ledger-checkpoint.ts';

export type AttestedFunds = {
  /** Money of the available balance that no process of ours attested. */
  readonly unattestedMinor: bigint;
  /** The available balance less the unattested money and the money of pending refunds; below zero, unattested money was spent. */
  readonly attestedMinor: bigint;
  /** The entry up to which a check verified the credits. */
  readonly checkedTo: bigint;
};

/** The most entries to verify, because people and payouts are locked meanwhile. */
const MOST_ENTRIES = 50_000n;

function tooManyUnchecked(): DomainError {
  return new DomainError(
    'service_unavailable',
    'The ledger of this merchant was not checked for too long. The staff of the service must look into it.',
  );
}

/**
 * The merchant's funds up to its newest entry, with all failed refunds. Entries up to an attested checkpoint are not verified again.
 * Reports every unattested credit. Throws `service_unavailable` if a fault has kept the checkpoint from moving for too long.
 */
export async function findAttestedFunds(db: Queryable, merchantId: MerchantId): Promise<AttestedFunds> {
  const funds = await findFunds(db, merchantId);
  const isChecked = isCheckpointAttested(db, funds);
  let unattestedMinor = isChecked ? funds.checkedUnattestedMinor : 0n;
  const { accountId, entry } = funds;
  const checkedTo = isChecked ? funds.after : 0n;
  if (entry - checkedTo > MOST_ENTRIES) throw tooManyUnchecked();
  const unattested = [
    ...(await findAllUnattestedCredits(db, { accountId, entry, after: checkedTo })),
    ...(await findUnattestedRefunds(db, [merchantId])),
  ];
  for (const { ref, amountMinor, table } of unattested) {
    db.attestor.report({ table, key: ref.id });
    unattestedMinor += amountMinor;
  }
  return { unattestedMinor, attestedMinor: funds.spendableMinor - unattestedMinor, checkedTo };
}
