// What each adapter must make of each row of the sandbox operator's table, by the kind of payment: the suite asserts it, and docs/operators.md shows it.
import type { FailureCode } from '../../src/domain/payments/failure.ts';
import type { OperatorId } from '../../src/domain/payments/operator-catalogue.ts';
import type { SendOutcome, StatusOutcome } from '../../src/operators/port.ts';

export type DirectionName = 'collection' | 'payout' | 'refund';

/**
 * How the last status says that it ended. `paid_otherwise`: with other money than was requested. `receipt_reused`: with the receipt of the
 * payment before. `returned`: paid first, and returned then.
 */
type RowOutcome = 'succeeded' | 'paid_otherwise' | 'receipt_reused' | 'returned' | 'pending' | FailureCode;

export type ConformanceRow = {
  readonly row: string;
  /** What each send with the same reference comes to. */
  readonly sends: readonly SendOutcome['kind'][];
  /** How many requests the operator gets for them. */
  readonly requests: number;
  /** What the first statuses come to. */
  readonly statuses: readonly StatusOutcome['kind'][];
  readonly outcome: RowOutcome;
  readonly callbacks: number;
};

/** What an operator says otherwise than MTN, or not at all. */
export type Dialect = {
  /** Of rows, by the kind of payment. */
  readonly outcomes: Partial<Record<DirectionName, Readonly<Record<string, FailureCode>>>>;
  /** Whether its statuses name the money. */
  readonly namesMoney: boolean;
  /** Whether its statuses name the receipt of a payment whose money was returned. */
  readonly namesReturned: boolean;
  /** How many sends it takes for six requests that refuse our account. */
  readonly sendsForSixRefusals: number;
  /** What a status comes to of which no field has the type that the operator documents. */
  readonly wrongTypes: 'unreadable' | 'unknown';
};

const MTN: Dialect = {
  outcomes: {},
  namesMoney: true,
  namesReturned: true,
  sendsForSixRefusals: 6,
  wrongTypes: 'unreadable',
};

/** Of the operators whose sends may be repeated, as the suite repeats them. */
export const DIALECTS: Readonly<Partial<Record<OperatorId, Dialect>>> = {
  'mtn-momo': MTN,
  'airtel-money': {
    // Airtel has no code for a payer without an account, and says of such a payee that our account may not pay.
    outcomes: { collection: { '007': 'operator_rejected' }, payout: { '006': 'operator_unavailable' } },
    namesMoney: false,
    namesReturned: false,
    // The first of them refuses our signature, so that the same send tries a new key.
    sendsForSixRefusals: 5,
    // Nothing in it says which payment it is about.
    wrongTypes: 'unknown',
  },
};

const PAID = { sends: ['accepted'], statuses: [], outcome: 'succeeded', callbacks: 1 } as const;

type Row = Omit<ConformanceRow, 'requests'> & { readonly requests?: number };

const FAULTS: readonly Row[] = [
  { ...PAID, row: '004', callbacks: 0 },
  { ...PAID, row: '008', callbacks: 3 },
  { ...PAID, row: '009' },
  { ...PAID, row: '011', sends: ['unknown', 'unknown', 'unknown', 'accepted'] },
  { ...PAID, row: '012' },
  { ...PAID, row: '014', sends: ['unknown', 'accepted'] },
  { ...PAID, row: '016', sends: ['unknown', 'accepted'] },
  // The same send renews the token.
  { ...PAID, row: '017', requests: 2 },
  { ...PAID, row: '018', sends: ['unknown', 'accepted'], callbacks: 0 },
  { ...PAID, row: '019', statuses: ['not_found', 'not_found'] },
  { ...PAID, row: '021', outcome: 'receipt_reused' },
  { ...PAID, row: '500' },
];

/** Only what was paid as it was requested can be refunded, and a refund is not returned. */
const NOT_REFUNDED: readonly Row[] = [
  { ...PAID, row: '010', outcome: 'pending', callbacks: 0 },
  { ...PAID, row: '015', outcome: 'returned', callbacks: 2 },
  { ...PAID, row: '020', outcome: 'paid_otherwise' },
];

const ROWS: Readonly<Record<DirectionName, readonly Row[]>> = {
  collection: [
    { ...PAID, row: '001', outcome: 'payer_cancelled' },
    { ...PAID, row: '002', outcome: 'wrong_pin' },
    { ...PAID, row: '003', outcome: 'prompt_expired' },
    { ...PAID, row: '005', outcome: 'payer_cancelled', callbacks: 0 },
    { ...PAID, row: '006', outcome: 'insufficient_funds' },
    { ...PAID, row: '007', outcome: 'payer_not_found' },
    { ...PAID, row: '013', outcome: 'payer_cancelled' },
    ...FAULTS,
    ...NOT_REFUNDED,
  ],
  payout: [
    { ...PAID, row: '001', outcome: 'payer_not_found' },
    { ...PAID, row: '002', outcome: 'payer_limit_reached' },
    { ...PAID, row: '003', outcome: 'operator_unavailable' },
    { ...PAID, row: '005', outcome: 'operator_rejected', callbacks: 0 },
    { ...PAID, row: '006', outcome: 'operator_rejected' },
    { ...PAID, row: '007' },
    { ...PAID, row: '013', outcome: 'operator_rejected' },
    ...FAULTS,
    ...NOT_REFUNDED,
  ],
  refund: FAULTS,
};

/** Every row for payments of this kind, in order; `500` stands for any number outside of the table. */
export function rowsOf(name: DirectionName, { outcomes, sendsForSixRefusals, wrongTypes }: Dialect): ConformanceRow[] {
  const refused = Array.from({ length: sendsForSixRefusals }, () => 'unknown' as const);
  const rows: readonly Row[] = [
    ...ROWS[name],
    { ...PAID, row: '022', sends: [...refused, 'accepted'], requests: 7 },
    {
      ...PAID,
      row: '023',
      sends: ['unknown', 'unknown', 'unknown', 'unknown', 'accepted'],
      statuses: [wrongTypes, 'unknown', 'unknown', 'unknown'],
    },
  ];
  return rows
    .map((row) => ({
      ...row,
      requests: row.requests ?? row.sends.length,
      outcome: outcomes[name]?.[row.row] ?? row.outcome,
    }))
    .sort((one, other) => one.row.localeCompare(other.row));
}
