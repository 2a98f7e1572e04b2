// Accounts with operators: two of the staff agree on each, and a row that somebody wrote by hand counts for nothing.
import assert from 'node:assert/strict';
import { listOperatorAccounts } from '../../../src/db/accounts/operator-account.ts';
import type { Proposed } from '../../../src/domain/accounts/staff-proposal.ts';
import { newId } from '../../../src/domain/ids.ts';
import type { Credentials } from '../../../src/domain/payments/operator-account.ts';
import { sealAccount } from '../../../src/security/operator-credentials.ts';
import {
  decideOnStaffProposal,
  proposeAsStaff,
  type DecideStaffProposal,
  type StaffProposalMade,
} from '../../../src/operations/accounts/staff-proposals.ts';
import { open } from '../../../src/security/sealing.ts';
import { addFirstStaff, AMINA, BRIAN } from '../../support/staff.ts';
import { allRows, KEY_RING, tamper } from '../rows.ts';
import { useDatabasePerCase } from '../use-database.ts';

const CREDENTIALS: Credentials = { clientId: 'client-1', clientSecret: 'the secret of Airtel', pin: '2580' };
const TERMS = {
  operator: 'airtel-money',
  country: 'UG',
  baseUrl: 'https://operator.example',
  callsPerSecond: 20,
} as const;
const CONFLICT = { code: 'state_conflict' };

describe('an account with an operator', () => {
  const db = useDatabasePerCase();
  const deployment = { environment: 'test', callbackUrl: 'https://pay.example' } as const;
  const sealed = (id = newId('opa'), changes: object = {}, credentials = CREDENTIALS) =>
    sealAccount({ id, terms: { ...TERMS, ...changes }, credentials, keyRing: KEY_RING, deployment });
  const proposeAs = (proposed: Proposed) => proposeAsStaff(db, { proposed, by: AMINA, at: new Date() });

  beforeEach(() => addFirstStaff(db));

  // Asynchronous, as what seals throws.
  const propose = async (changes: object = {}, credentials = CREDENTIALS) =>
    proposeAs({ kind: 'operator_account_addition', payload: sealed(newId('opa'), changes, credentials) });
  const decide = ({ id }: StaffProposalMade, input: Partial<DecideStaffProposal> = {}) =>
    decideOnStaffProposal(db, { id, decision: 'confirmed', by: BRIAN, at: new Date(), ...input });
  const only = async () => {
    const [found, another] = await listOperatorAccounts(db);
    assert.ok(found && another === undefined);
    return found;
  };
  const rotate = async (credentials: Credentials, changes: object = {}) =>
    proposeAs({ kind: 'operator_account_rotation', payload: sealed((await only()).id, changes, credentials) });
  const close = async () => {
    const { id: account, operator, country } = await only();
    return proposeAs({ kind: 'operator_account_closing', payload: { account, operator, country } });
  };

  it('is there once another one of the staff confirmed it, with its secrets sealed', async () => {
    const made = await propose();
    assert.equal(made.token, null);
    assert.deepEqual(await listOperatorAccounts(db), []);
    await assert.rejects(decide(made, { by: AMINA }), CONFLICT);
    await decide(made);
    const { id, credentialsSealed, ...account } = await only();
    assert.deepEqual(JSON.parse(open(credentialsSealed, id, KEY_RING)), {
      clientSecret: CREDENTIALS['clientSecret'],
      pin: CREDENTIALS['pin'],
    });
    const { identifiers, state, currency, proposalId } = account;
    assert.deepEqual([identifiers, state, currency, proposalId], [{ clientId: 'client-1' }, 'active', 'UGX', made.id]);
  });

  it('leaves no secret in the proposal, and nothing sealed in the audit log', async () => {
    await decide(await propose());
    await decide(await rotate({ ...CREDENTIALS, clientSecret: 'the next secret' }));
    const proposals = JSON.stringify(await allRows(db, 'SELECT payload FROM staff_proposals'));
    const entries = JSON.stringify(await allRows(db, 'SELECT after FROM audit_entries'));
    for (const text of [proposals, entries]) {
      assert.match(text, /client-1/);
      assert.doesNotMatch(text, /the secret|the next|2580/);
    }
    assert.doesNotMatch(entries, /sealed/);
  });

  it('is refused with terms or credentials that cannot be, before anybody is asked', async () => {
    for (const [changes, credentials, says] of [
      [{ country: 'CM' }, CREDENTIALS, /no market in CM/],
      [{}, { ...CREDENTIALS, pin: '25800' }, /PIN .* must be four digits$/],
      [{}, { ...CREDENTIALS, clientId: '' }, /the client id is missing/],
    ] as const) {
      await assert.rejects(propose(changes, credentials), (error: Error) => says.test(error.message));
    }
    assert.deepEqual(await allRows(db, 'SELECT 1 FROM staff_proposals'), []);
  });

  it('is one for each operator: the first of two that were proposed', async () => {
    const [one, other] = [await propose(), await propose({ country: 'KE' })];
    await decide(one);
    await assert.rejects(decide(other), CONFLICT);
    await assert.rejects(propose(), CONFLICT);
    await decide(await close());
    await assert.rejects(propose(), CONFLICT, 'a closed one is opened again');
  });

  it('is closed, and is open again with other credentials', async () => {
    await decide(await propose());
    const waiting = await close();
    await decide(await close());
    const closed = await only();
    assert.deepEqual([closed.state, closed.identifiers['clientId']], ['closed', 'client-1']);
    await assert.rejects(decide(waiting), CONFLICT);
    await assert.rejects(close(), CONFLICT);
    await decide(await rotate({ ...CREDENTIALS, clientId: 'client-2' }, { callsPerSecond: 7 }));
    const { state, identifiers, callsPerSecond, baseUrl } = await only();
    assert.deepEqual([state, identifiers['clientId'], callsPerSecond], ['active', 'client-2', 7]);
    assert.equal(baseUrl, TERMS.baseUrl);
  });

  for (const change of [
    "base_url = 'https://thief.example'",
    "state = 'closed'",
    `identifiers = '{"clientId": "client-3"}'`,
    "credentials_sealed = 'test.other'",
    'calls_per_second = 9999',
    "country = 'KE'",
    `proposed_by = confirmed_by, confirmed_by = proposed_by`,
  ]) {
    it(`counts for nothing after somebody set by hand: ${change}`, async () => {
      await decide(await propose());
      const { id } = await only();
      await tamper(db, `UPDATE operator_accounts SET ${change}`);
      assert.deepEqual(await listOperatorAccounts(db), []);
      await assert.rejects(proposeAs({ kind: 'operator_account_rotation', payload: sealed(id) }), CONFLICT);
      await assert.rejects(propose(), CONFLICT, 'nor is there room for another one');
    });
  }
});
