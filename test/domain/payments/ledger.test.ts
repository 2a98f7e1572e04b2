// Postings: which accounts each kind debits and credits.
import assert from 'node:assert/strict';
import { newId } from '../../../src/domain/ids.ts';
import {
  availableAccount,
  heldAccount,
  operatorAccount,
  posting,
  type AccountId,
  type PostingKind,
} from '../../../src/domain/payments/ledger.ts';

const PAYMENT = { merchantId: newId('mer'), operator: 'mtn-momo', amountMinor: 5000n, currency: 'UGX' } as const;
const AVAILABLE = availableAccount(PAYMENT.merchantId);
const HELD = heldAccount(PAYMENT.merchantId);
const OPERATOR = operatorAccount('mtn-momo', 'UGX');

/** The debit and the credit account of each kind. */
const ACCOUNTS: Readonly<Record<PostingKind, readonly [AccountId, AccountId]>> = {
  collection_paid: [OPERATOR, AVAILABLE],
  collection_reversed: [AVAILABLE, OPERATOR],
  payout_held: [AVAILABLE, HELD],
  payout_voided: [HELD, AVAILABLE],
  payout_paid: [HELD, OPERATOR],
  payout_returned: [OPERATOR, AVAILABLE],
};
const KINDS = Object.keys(ACCOUNTS) as PostingKind[];

/** The balance of each account after these postings. */
function balances(kinds: readonly PostingKind[]): Record<string, bigint> {
  const sums: Record<string, bigint> = { [AVAILABLE]: 0n, [HELD]: 0n, [OPERATOR]: 0n };
  for (const kind of kinds) {
    const { debitAccount, creditAccount, amountMinor } = posting(kind, PAYMENT);
    sums[debitAccount] = (sums[debitAccount] ?? 0n) - amountMinor;
    sums[creditAccount] = (sums[creditAccount] ?? 0n) + amountMinor;
  }
  return sums;
}

describe('a posting', () => {
  it('names each account by its owner', () => {
    assert.deepEqual(
      [AVAILABLE, HELD, OPERATOR],
      [`${PAYMENT.merchantId}/available`, `${PAYMENT.merchantId}/held`, 'operator/mtn-momo/UGX'],
    );
  });

  for (const kind of KINDS) {
    it(`moves the whole amount from ${ownerOf(ACCOUNTS[kind][0])} to ${ownerOf(ACCOUNTS[kind][1])} for ${kind}`, () => {
      const [debitAccount, creditAccount] = ACCOUNTS[kind];
      assert.deepEqual(posting(kind, PAYMENT), {
        kind,
        debitAccount,
        creditAccount,
        amountMinor: 5000n,
        currency: 'UGX',
      });
    });
  }

  const nothing = { [AVAILABLE]: 0n, [HELD]: 0n, [OPERATOR]: 0n };
  const outcomes: readonly (readonly [string, readonly PostingKind[], Record<string, bigint>])[] = [
    ['a collection that was reversed', ['collection_paid', 'collection_reversed'], nothing],
    ['a payout that was not sent', ['payout_held', 'payout_voided'], nothing],
    ['a payout that was returned', ['payout_held', 'payout_paid', 'payout_returned'], nothing],
    ['a payout that was paid', ['payout_held', 'payout_paid'], { [AVAILABLE]: -5000n, [HELD]: 0n, [OPERATOR]: 5000n }],
  ];
  for (const [what, kinds, expected] of outcomes) {
    it(`leaves the right balances after ${what}`, () => {
      assert.deepEqual(balances(kinds), expected);
    });
  }

  it('leaves a sum of zero over all accounts, whatever its kind', () => {
    const sum = Object.values(balances(KINDS)).reduce((total, balance) => total + balance, 0n);
    assert.equal(sum, 0n);
  });
});

function ownerOf(account: AccountId): string {
  if (account === AVAILABLE) return 'available';
  return account === HELD ? 'held' : 'the operator';
}
