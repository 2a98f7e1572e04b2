// Rules about money: every payment has its transfers, and balances equal the entries and the operator's records.
import { refundedCollections, truthOf } from './operator-rules.ts';
import type { TransferRow } from './records.ts';
import { groupBy, type Case, type Rules, type Violation } from './violation.ts';

export const ledgerRules: Rules = (evidence) => [
  ...checkTransfers(evidence),
  ...checkEntries(evidence),
  ...checkOperatorTruth(evidence),
];

const COLLECTION_TRANSFERS: Readonly<Record<string, readonly string[]>> = {
  succeeded: ['collection_paid'],
  reversed: ['collection_paid', 'collection_reversed'],
};
const PAYOUT_TRANSFERS: Readonly<Record<string, readonly string[]>> = {
  queued: ['payout_held'],
  released: ['payout_held'],
  reconciling: ['payout_held'],
  succeeded: ['payout_held', 'payout_paid'],
  reversed: ['payout_held', 'payout_paid', 'payout_returned'],
  failed: ['payout_held', 'payout_voided'],
  rejected: ['payout_held', 'payout_voided'],
  cancelled: ['payout_held', 'payout_voided'],
  expired: ['payout_held', 'payout_voided'],
};
/** The accounts of each kind of transfer, from the first to the second. */
const ACCOUNTS: Readonly<Record<string, readonly [string, string]>> = {
  collection_paid: ['operator', 'available'],
  collection_reversed: ['available', 'operator'],
  payout_held: ['available', 'held'],
  payout_voided: ['held', 'available'],
  payout_paid: ['held', 'operator'],
  payout_returned: ['operator', 'available'],
};

function checkTransfers({ records }: Case): Violation[] {
  const byPayment = groupBy(records.transfers, ({ paymentId }) => paymentId);
  const wrong = (id: string, text: string): Violation => ({ rule: 'transfers_wrong', id, text });
  const check = (
    row: { id: string; merchantId: string; state: string; amount: number },
    wanted: readonly string[],
  ): Violation[] => {
    const transfers = byPayment.get(row.id) ?? [];
    byPayment.delete(row.id);
    const kinds = transfers.map(({ kind }) => kind).sort();
    const sameKinds = kinds.join(' ') === [...wanted].sort().join(' ');
    return [
      ...(sameKinds ? [] : [wrong(row.id, `it is ${row.state} and has the transfers: ${kinds.join(', ') || 'none'}`)]),
      ...transfers
        .filter((transfer) => !isBetweenItsAccounts(transfer, row))
        .map(({ id, kind, amount }) =>
          wrong(row.id, `transfer ${id} (${kind}, ${amount}) is not of its amount or accounts`),
        ),
    ];
  };
  return [
    ...records.collections.flatMap((row) => check(row, COLLECTION_TRANSFERS[row.state] ?? [])),
    ...records.payouts.flatMap((row) => check(row, PAYOUT_TRANSFERS[row.state] ?? [])),
    ...[...byPayment.keys()].map((id) => wrong(id, 'a transfer belongs to a payment that does not exist')),
  ];
}

function isBetweenItsAccounts(transfer: TransferRow, row: { merchantId: string; amount: number }): boolean {
  const sides = ACCOUNTS[transfer.kind];
  const isSide = (account: string, side: string | undefined) =>
    side === 'operator' ? account.startsWith('operator/') : account === `${row.merchantId}/${side ?? ''}`;
  return transfer.amount === row.amount && isSide(transfer.debit, sides?.[0]) && isSide(transfer.credit, sides?.[1]);
}

function sumsOf(transfers: readonly TransferRow[]): Map<string, number> {
  const sums = new Map<string, number>();
  const add = (account: string, amount: number) => sums.set(account, (sums.get(account) ?? 0) + amount);
  for (const { debit, credit, amount } of transfers) {
    add(debit, -amount);
    add(credit, amount);
  }
  return sums;
}

function checkEntries({ records }: Case): Violation[] {
  const sums = sumsOf(records.transfers);
  return records.balances.flatMap(({ id, balance }): Violation[] => {
    const sum = sums.get(id) ?? 0;
    if (balance === null || balance === sum) return [];
    return [{ rule: 'balance_differs_from_entries', id, text: `its balance is ${balance}, its entries sum to ${sum}` }];
  });
}

// The money that merchants must have, computed only from the operator's records and the requests, not from the ledger.
function checkOperatorTruth({ records, operator }: Case): Violation[] {
  const refunded = refundedCollections(operator);
  const expected = new Map<string, number>();
  const add = (account: string, amount: number) => expected.set(account, (expected.get(account) ?? 0) + amount);
  let atOperator = 0;
  for (const { merchantId, operatorReference, amount } of records.collections) {
    if (truthOf(operator.get(operatorReference)) !== 'paid' || refunded.has(operatorReference)) continue;
    add(`${merchantId}/available`, amount);
    atOperator += amount;
  }
  for (const { merchantId, operatorReference, amount, state } of records.payouts) {
    const truth = truthOf(operator.get(operatorReference));
    if (truth === 'paid') {
      add(`${merchantId}/available`, -amount);
      atOperator -= amount;
    } else if (truth === 'pending' || (truth === 'unknown' && ['queued', 'released', 'reconciling'].includes(state))) {
      add(`${merchantId}/available`, -amount);
      add(`${merchantId}/held`, amount);
    }
  }
  const differs = (id: string, actual: number, wanted: number): Violation[] =>
    actual === wanted
      ? []
      : [{ rule: 'balance_differs_from_operator', id, text: `it is ${actual}, by the operator's records ${wanted}` }];
  const accounts = records.balances.filter(({ kind }) => kind !== 'operator');
  const sums = sumsOf(records.transfers);
  const operatorSum = records.balances
    .filter(({ kind }) => kind === 'operator')
    .reduce((sum, { id }) => sum + (sums.get(id) ?? 0), 0);
  return [
    ...accounts.flatMap(({ id, balance }) => differs(id, balance ?? 0, expected.get(id) ?? 0)),
    // The operator's account is on the other side of the ledger.
    ...differs('the operator’s accounts', -operatorSum, atOperator),
  ];
}
