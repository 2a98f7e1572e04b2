// Invalid rows of the audit logs' hash chains, each with the rule that refuses it.
import { insert, insertRow, refusedChanges, ruleCase } from '../rule-cases.ts';
import type { RuleCase, RuleFixture, Sql } from '../rule-cases.ts';

type Row = Readonly<Record<string, unknown>>;

const HASH = Buffer.alloc(32, 7);

const chainRow = ({ merchantId }: RuleFixture, columns: Row = {}): Sql =>
  insertRow('audit_chains', { chain: merchantId, position: 1, hash: HASH, ...columns });

/** An entry, and a link to it in the chain. */
function entry(fixture: RuleFixture): Sql {
  return insert(fixture, 'audit_entries');
}

function link({ merchantId }: RuleFixture, columns: Row = {}): Sql {
  const { chain = merchantId, position = 1, hash = HASH } = columns;
  const text = `INSERT INTO audit_links (chain, position, entry_id, hash)
    SELECT $1, $2, ${'entry_id' in columns ? '9007199254740991' : 'id'}, $3 FROM (SELECT max(id) AS id FROM audit_entries) newest`;
  return { text, values: [chain, position, hash] };
}

const headRow = ({ merchantId }: RuleFixture, columns: Row = {}): Sql =>
  insertRow('audit_heads', {
    chain: merchantId,
    position: 1,
    hash: HASH,
    signed_at: new Date(),
    key_name: 'first',
    public_key: Buffer.alloc(32),
    signature: Buffer.alloc(64),
    ...columns,
  });

const linked = (fixture: RuleFixture): Sql[] => [entry(fixture), link(fixture)];

const IS_NOT_NEXT = /place \d+ of the log mer_\w+ is not the next/;

const TOO_SHORT = Buffer.alloc(31);

export const AUDIT_CHAIN_RULE_CASES: readonly RuleCase[] = [
  ruleCase('a chain of no merchant', 'audit_chains_chain_check', (of) => [chainRow(of, { chain: 'other' })]),
  ruleCase('a second end of a chain', 'audit_chains_pkey', (of) => [chainRow(of), chainRow(of)]),
  ruleCase('another name for a chain', /UPDATE is not allowed on audit_chains/, () => [
    { text: "UPDATE audit_chains SET chain = 'service'", values: [] },
  ]),
  ruleCase('a hash of the wrong length', 'audit_chains_hash_check', (of) => [chainRow(of, { hash: TOO_SHORT })]),
  ruleCase('a link to no entry', 'audit_links_entry_id_fkey', (of) => [link(of, { entry_id: 0 })]),
  ruleCase('a second link to an entry', 'audit_links_entry_id_key', (of) => [...linked(of), link(of, { position: 2 })]),
  ruleCase('a link in the log of another merchant', /audit entry \d+ is not of the log mer_\w+/, (of) => [
    entry(of),
    link(of, { chain: of.otherMerchantId }),
  ]),
  ruleCase('a link in the log of what concerns no merchant', /audit entry \d+ is not of the log service/, (of) => [
    entry(of),
    link(of, { chain: 'service' }),
  ]),
  ruleCase('two entries at one place', IS_NOT_NEXT, (of) => [...linked(of), entry(of), link(of)]),
  ruleCase('a place before the first', IS_NOT_NEXT, (of) => [entry(of), link(of, { position: 0 })]),
  ruleCase('a first place that is not the first', IS_NOT_NEXT, (of) => [entry(of), link(of, { position: 2 })]),
  ruleCase('a place after a gap', IS_NOT_NEXT, (of) => [...linked(of), entry(of), link(of, { position: 3 })]),
  ruleCase('a link with a hash of the wrong length', 'audit_chains_hash_check', (of) => [
    entry(of),
    link(of, { hash: TOO_SHORT }),
  ]),
  ruleCase('a head of no link', 'audit_heads_of_a_link', (of) => [chainRow(of), headRow(of)]),
  ruleCase('two heads at one link', 'audit_heads_pkey', (of) => [...linked(of), headRow(of), headRow(of)]),
  ...(
    [
      ['hash', 'audit_heads_hash_check'],
      ['public_key', 'audit_heads_public_key_check'],
      ['signature', 'audit_heads_signature_check'],
    ] as const
  ).map(([column, constraint]) =>
    ruleCase(`a head whose ${column} has the wrong length`, constraint, (of) => [
      ...linked(of),
      headRow(of, { [column]: TOO_SHORT }),
    ]),
  ),
  ruleCase('a head of no date', 'audit_heads_signed_at', (of) => [
    ...linked(of),
    headRow(of, { signed_at: 'infinity' }),
  ]),
  ruleCase('an audit entry of no date', 'audit_entries_created_at', (of) => [
    insert(of, 'audit_entries', { created_at: 'infinity' }),
  ]),
  ruleCase('to have no entry wait for its link', 'audit_entries_to_link_entry_id_fkey', () => [
    insertRow('audit_entries_to_link', { entry_id: 9_007_199_254_740_991n }),
  ]),
  ruleCase('to have an entry wait twice for its link', 'audit_entries_to_link_pkey', (of) => [
    entry(of),
    { text: 'INSERT INTO audit_entries_to_link SELECT max(id) FROM audit_entries', values: [] },
  ]),
  ...refusedChanges('audit_chains', ['DELETE', 'TRUNCATE'], 'hash'),
  ...refusedChanges('audit_links', ['UPDATE', 'DELETE', 'TRUNCATE'], 'hash'),
  ...refusedChanges('audit_heads', ['UPDATE', 'DELETE', 'TRUNCATE'], 'hash'),
];
