// What each adapter must make of each row of the sandbox operator's table, by the kind of payment: the suite asserts it, and docs/operators.md shows it.
import type { FailureCode } from '../../src/domain/payments/failure.ts';
import type { OperatorId } from '../../src/domain/payments/operator-catalogue.ts';
import type { SendOutcome, StatusOutcome } from '../../src/operators/port.ts';

export type DirectionName = 'collection' | 'payout' | 'refund';

/**
 * How the last status says that it ended. `paid_otherwise`: with other money than was requested. `receipt_reused`: with the receipt of the
 * payment before. `returned`: paid first, and returned then. `unknown`: nobody can find out.
 */
export type RowOutcome =
  'succeeded' | 'paid_otherwise' | 'receipt_reused' | 'returned' | 'pending' | 'unknown' | FailureCode;

export type ConformanceRow = {
  readonly row: string;
  /** What each send with the same reference comes to. A payment that is sent once is sent again only after nothing was done with it. */
  readonly sends: readonly SendOutcome['kind'][];
  /** How many requests the operator gets for them. */
  readonly requests: number;
  /** How often the operator takes the payment. */
  readonly accepted: number;
  /** What the first statuses come to. */
  readonly statuses: readonly StatusOutcome['kind'][];
  readonly outcome: RowOutcome;
  /** How many callbacks come, or messages to the payment's own address. */
  readonly callbacks: number;
  /** What the messages to the payment's own address say, if that is not the outcome. */
  readonly message?: RowOutcome;
};

type Row = Omit<ConformanceRow, 'requests' | 'accepted'> & Partial<Pick<ConformanceRow, 'requests' | 'accepted'>>;
type RowChange = Partial<Omit<Row, 'row'>>;

/** What an operator says otherwise than MTN, or not at all. */
export type Dialect = {
  /** Of rows, by the kind of payment. */
  readonly changes: Partial<Record<DirectionName, Readonly<Record<string, RowChange>>>>;
  /** Whether its statuses name the receipt of a payment whose money was returned. */
  readonly namesReturned: boolean;
  /** How many sends it takes for six requests that refuse our account. */
  readonly sendsForSixRefusals: number;
  /** What a status comes to of which no field has the type that the operator documents. */
  readonly wrongTypes: 'unreadable' | 'unknown';
};

const MTN: Dialect = {
  changes: {},
  namesReturned: true,
  sendsForSixRefusals: 6,
  wrongTypes: 'unreadable',
};

/**
 * A refund is sent once, no callback tells of it, and until the collection is returned the operator says nothing. Each of the six refusals
 * is of our signature, and each send tries a new key.
 */
const REFUNDS_OF_AIRTEL: Readonly<Record<string, RowChange>> = {
  ...Object.fromEntries(['008', '009', '012', '016', '017', '500'].map((row) => [row, { callbacks: 0 }] as const)),
  '011': { sends: ['unknown'], accepted: 0, outcome: 'unknown', callbacks: 0 },
  '014': { sends: ['unknown'], callbacks: 0 },
  '018': { sends: ['unknown'] },
  '019': { statuses: ['unknown', 'unknown'], callbacks: 0 },
  '021': { outcome: 'succeeded', callbacks: 0 },
  '022': { sends: ['unknown', 'unknown', 'unknown', 'accepted'], callbacks: 0 },
  '023': { sends: ['unknown'], callbacks: 0 },
};

const AIRTEL: Dialect = {
  // Airtel has no code for a payer without an account, and says of such a payee that our account may not pay.
  changes: {
    collection: { '007': { outcome: 'operator_rejected' } },
    payout: { '006': { outcome: 'operator_unavailable' } },
    refund: REFUNDS_OF_AIRTEL,
  },
  namesReturned: false,
  // The first of them refuses our signature, so that the same send tries a new key.
  sendsForSixRefusals: 5,
  // Nothing in it says which payment it is about.
  wrongTypes: 'unknown',
};

/** A lost answer is not sent again. The first answer of row 023 says that the payment is accepted, and names no id that can be read. */
const SENT_ONCE: Readonly<Record<string, RowChange>> = {
  // It may have been processed, by all that the answer says.
  '011': { sends: ['unknown'], accepted: 0, outcome: 'unknown', callbacks: 0 },
  '014': { sends: ['unknown'] },
  '018': { sends: ['unknown'] },
  '019': { statuses: ['unknown', 'unknown'] },
  '023': { sends: ['accepted'], statuses: [] },
};

const DARAJA: Dialect = {
  changes: {
    collection: {
      ...SENT_ONCE,
      '007': { outcome: 'operator_rejected' },
      '013': { message: 'succeeded' },
      // The status of a prompt has neither money nor receipt, and stays what it was.
      '015': { outcome: 'succeeded', callbacks: 1 },
      '020': { outcome: 'succeeded', message: 'paid_otherwise' },
      '021': { outcome: 'succeeded', message: 'receipt_reused' },
    },
    payout: {
      ...SENT_ONCE,
      // A status says that a payout failed, and only the result says why.
      '001': { outcome: 'operator_rejected', message: 'payer_not_found' },
      '002': { outcome: 'operator_rejected', message: 'payer_limit_reached' },
      '003': { outcome: 'operator_rejected', message: 'operator_unavailable' },
      '006': { message: 'payer_not_found' },
      '013': { message: 'succeeded' },
      '015': { callbacks: 1, message: 'succeeded' },
    },
    refund: {
      ...SENT_ONCE,
      // Without the id that Daraja issues nobody can ask: the message to the address of the refund alone tells.
      '014': { sends: ['unknown'], outcome: 'unknown', message: 'succeeded' },
      '018': { sends: ['unknown'], outcome: 'unknown' },
      '023': { sends: ['accepted'], statuses: [], outcome: 'unknown', message: 'succeeded' },
    },
  },
  namesReturned: true,
  // Each send tries a new token.
  sendsForSixRefusals: 3,
  wrongTypes: 'unknown',
};

export const DIALECTS: Readonly<Record<OperatorId, Dialect>> = {
  'mtn-momo': MTN,
  'airtel-money': AIRTEL,
  daraja: DARAJA,
};

const PAID = { sends: ['accepted'], statuses: [], outcome: 'succeeded', callbacks: 1 } as const;

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
export function rowsOf(name: DirectionName, { changes, sendsForSixRefusals, wrongTypes }: Dialect): ConformanceRow[] {
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
    .map((row) => ({ ...row, ...changes[name]?.[row.row] }))
    .map((row) => ({ ...row, requests: row.requests ?? row.sends.length, accepted: row.accepted ?? 1 }))
    .sort((one, other) => one.row.localeCompare(other.row));
}
