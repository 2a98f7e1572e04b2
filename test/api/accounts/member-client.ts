// Calls of the member and invitation routes by the logged-in members of a merchant.
import assert from 'node:assert/strict';
import { newId, type MerchantId } from '../../../src/domain/ids.ts';
import type { Role } from '../../../src/domain/accounts/member.ts';
import { call, type ApiResponse } from '../../support/api.ts';
import type { TestEnvironment } from '../../support/test-environment.ts';
import { addPerson, logIn, PASSWORD, type TestPerson } from '../../support/people.ts';
import type { Browser } from '../../support/browser.ts';

const MEMBERS = '/v1/console/members';
const CHANGES = '/v1/console/member-changes';
const INVITATIONS = '/v1/console/invitations';

export type LoggedInMember = { readonly person: TestPerson; readonly browser: Browser };
type PersonSummary = { readonly id: string; readonly name: string };
type WaitingProposal = Record<string, unknown> & { readonly id: string; readonly waits_for: readonly PersonSummary[] };

export function createMemberClient(testEnv: TestEnvironment) {
  const add = async (merchantId: MerchantId, ...roles: Role[]): Promise<LoggedInMember> => {
    const person = await addPerson(testEnv, merchantId, roles);
    return { person, browser: await logIn(testEnv, person) };
  };
  const oneOwner = async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    return { merchantId, owner: await add(merchantId, 'owner') };
  };
  /** A merchant with two owners. */
  const twoOwners = async () => {
    const { merchantId, owner: one } = await oneOwner();
    return { merchantId, one, two: await add(merchantId, 'owner') };
  };
  const newEmail = () => `${newId('usr').slice(-12)}@shop.example`;
  const invite = (by: LoggedInMember, roles: Role[], email = newEmail()) =>
    by.browser.call('POST', INVITATIONS, { json: { email, roles } });
  const accept = (fields: Record<string, unknown>) =>
    call(testEnv.baseUrl, 'POST', `${INVITATIONS}/accept`, {
      json: { name: 'Brian', password: PASSWORD, ...fields },
      idempotencyKey: null,
    });
  const change = (by: LoggedInMember, id: string, roles: Role[]) =>
    by.browser.call('PATCH', `${MEMBERS}/${id}`, { json: { roles } });
  const remove = (by: LoggedInMember, id: string) => by.browser.call('DELETE', `${MEMBERS}/${id}`);
  const decide = (by: LoggedInMember, id: unknown, verb: 'approve' | 'reject') => {
    const path = String(id).startsWith('inv_') ? INVITATIONS : CHANGES;
    return by.browser.call('POST', `${path}/${String(id)}/${verb}`);
  };
  const withdraw = (by: LoggedInMember, id: unknown) => by.browser.call('DELETE', `${CHANGES}/${String(id)}`);
  const list = async (by: LoggedInMember) =>
    (await by.browser.call('GET', MEMBERS)).json['data'] as {
      id: string;
      roles: Role[];
      waiting_changes: WaitingProposal[];
    }[];
  const rolesOf = async (by: LoggedInMember, id: string) => (await list(by)).find((member) => member.id === id)?.roles;
  const invitationsOf = async (by: LoggedInMember) =>
    (await by.browser.call('GET', INVITATIONS)).json['data'] as WaitingProposal[];
  /** For each invitation, its approval and the people who may approve it. */
  const approversOf = async (by: LoggedInMember) =>
    (await invitationsOf(by)).map(({ approval, waits_for: people }) => [approval, people.map(({ id }) => id)]);
  const waitingFor = async (by: LoggedInMember) =>
    (await by.browser.call('GET', '/v1/console/session')).json['waits_for_you'];
  const assertWaits = (response: ApiResponse, ...people: LoggedInMember[]) => {
    assert.equal(response.status, 202, response.text);
    const { waits_for: waitsFor, needs_second_person: needs } = response.json as unknown as WaitingProposal;
    assert.deepEqual(waitsFor.map(({ id }) => id).sort(), people.map(({ person }) => person.id).sort());
    assert.equal(needs, people.length === 0);
  };
  return {
    add,
    oneOwner,
    twoOwners,
    newEmail,
    invite,
    accept,
    change,
    remove,
    decide,
    withdraw,
    list,
    rolesOf,
    invitationsOf,
    approversOf,
    waitingFor,
    assertWaits,
  };
}
