// The people who rule a merchant in tests, and what they do to each other over HTTP.
import assert from 'node:assert/strict';
import { newId, type MerchantId } from '../../../src/domain/ids.ts';
import type { Role } from '../../../src/domain/accounts/member.ts';
import { call, type ApiResponse } from '../../support/api.ts';
import type { TestEnvironment } from '../../support/test-environment.ts';
import { addPerson, logIn, PASSWORD, type Browser, type TestPerson } from '../../support/people.ts';

const MEMBERS = '/v1/console/members';
const INVITATIONS = '/v1/console/invitations';

export type Administrator = { readonly person: TestPerson; readonly browser: Browser };
type Named = { readonly id: string; readonly name: string };
type Waiting = Record<string, unknown> & { readonly id: string; readonly waits_for: readonly Named[] };

export type Administration = ReturnType<typeof administrationOf>;

export function administrationOf(testEnv: TestEnvironment) {
  const addAdministrator = async (merchantId: MerchantId, ...roles: Role[]): Promise<Administrator> => {
    const person = await addPerson(testEnv, merchantId, roles);
    return { person, browser: await logIn(testEnv, person) };
  };
  /** A merchant with two owners. */
  const twoOwners = async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    return {
      merchantId,
      one: await addAdministrator(merchantId, 'owner'),
      two: await addAdministrator(merchantId, 'owner'),
    };
  };
  const newEmail = () => `${newId('usr').slice(-12)}@shop.example`;
  const invite = (by: Administrator, roles: Role[], email = newEmail()) =>
    by.browser.call('POST', INVITATIONS, { json: { email, roles } });
  const accept = (fields: Record<string, unknown>) =>
    call(testEnv.baseUrl, 'POST', `${INVITATIONS}/accept`, {
      json: { name: 'Brian', password: PASSWORD, ...fields },
      idempotencyKey: null,
    });
  const change = (by: Administrator, id: string, roles: Role[]) =>
    by.browser.call('PATCH', `${MEMBERS}/${id}`, { json: { roles } });
  const remove = (by: Administrator, id: string) => by.browser.call('DELETE', `${MEMBERS}/${id}`);
  const decide = (by: Administrator, id: unknown, verb: 'approve' | 'reject') => {
    const path = String(id).startsWith('inv_') ? INVITATIONS : `${MEMBERS}/changes`;
    return by.browser.call('POST', `${path}/${String(id)}/${verb}`);
  };
  const withdraw = (by: Administrator, id: unknown) => by.browser.call('DELETE', `${MEMBERS}/changes/${String(id)}`);
  const membersOf = async (by: Administrator) =>
    (await by.browser.call('GET', MEMBERS)).json['data'] as {
      id: string;
      roles: Role[];
      waiting_changes: Waiting[];
    }[];
  const rolesOf = async (by: Administrator, id: string) =>
    (await membersOf(by)).find((member) => member.id === id)?.roles;
  const invitationsOf = async (by: Administrator) =>
    (await by.browser.call('GET', INVITATIONS)).json['data'] as Waiting[];
  const waitingFor = async (by: Administrator) =>
    (await by.browser.call('GET', '/v1/console/session')).json['waits_for_you'];
  const assertWaits = (response: ApiResponse, ...people: Administrator[]) => {
    assert.equal(response.status, 202, response.text);
    const { waits_for: waitsFor, needs_second_person: needs } = response.json as unknown as Waiting;
    assert.deepEqual(waitsFor.map(({ id }) => id).sort(), people.map(({ person }) => person.id).sort());
    assert.equal(needs, people.length === 0);
  };
  return {
    addAdministrator,
    twoOwners,
    newEmail,
    invite,
    accept,
    change,
    remove,
    decide,
    withdraw,
    membersOf,
    rolesOf,
    invitationsOf,
    waitingFor,
    assertWaits,
  };
}
