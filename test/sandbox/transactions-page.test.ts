// The page of the sandbox's transactions: a table for people, with a decision for each payment that is undecided.
import assert from 'node:assert/strict';
import { callbackStatuses, hasAtLeast, submit, until, useSandbox } from './sandbox-harness.ts';
import { valuesOf } from '../support/values-of.ts';

const HTML = { Accept: 'text/html,*/*;q=0.8' };

describe('the page of the sandbox’s transactions', () => {
  const { sandbox, receiver, client } = useSandbox();

  const show = async (query = ''): Promise<string> =>
    (await fetch(`${sandbox.url}/sandbox/transactions${query}`, { headers: HTML })).text();
  const waiting = (kind: 'requestToPay' | 'transfer') => submit(client, kind, '099', { callbackUrl: receiver.url });
  const rowOf = (page: string, reference: string): string =>
    page.split('<tr ').find((row) => row.includes(reference)) ?? '';
  const press = (fields: Record<string, string>, { query = '', headers = {} } = {}) =>
    fetch(`${sandbox.url}/sandbox/transactions${query}`, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { ...HTML, ...headers },
      redirect: 'manual',
    });

  it('is JSON for a program', async () => {
    const answer = await fetch(`${sandbox.url}/sandbox/transactions`);
    assert.match(String(answer.headers.get('content-type')), /^application\/json/);
  });

  it('shows phones in groups and states in words, and what can be decided', async () => {
    const [undecided, paid] = [await waiting('requestToPay'), await submit(client, 'requestToPay', '012')];
    const page = await show();
    const row = rowOf(page, undecided);
    assert.match(row, /256\u00a0772\u00a0123\u00a0099/);
    assert.match(row, /Waits for the payer: decide it here/);
    assert.match(row, /value="approve"[^]*value="decline"/);
    assert.match(rowOf(page, paid), /<span class="state">Paid<\/span>/);
    assert.doesNotMatch(rowOf(page, paid), /<button/);
  });

  it('shows the payments of one phone alone', async () => {
    const [mine, other] = [await submit(client, 'requestToPay', '010'), await submit(client, 'requestToPay', '001')];
    const page = await show('?phone=%2B256 772 123 010');
    assert.ok(rowOf(page, mine).includes(mine));
    assert.equal(rowOf(page, other), '');
    assert.match(await show('?phone=256700000000'), /None yet of this phone/);
  });

  for (const [kind, choice, status] of [
    ['requestToPay', 'approve', 'SUCCESSFUL'],
    ['requestToPay', 'decline', 'FAILED'],
    ['transfer', 'approve', 'SUCCESSFUL'],
    ['transfer', 'decline', 'FAILED'],
  ] as const) {
    it(`lets a person ${choice} what ${kind} asked for, once, and the callback reports it`, async () => {
      const reference = await waiting(kind);
      const answers = await Promise.all([press({ reference, choice }), press({ reference, choice })]);
      assert.deepEqual(valuesOf(answers, 'status'), [303, 303]);
      const decided = answers.filter(({ headers }) => headers.get('location')?.includes('answered='));
      assert.equal(decided.length, 1);
      await until(() => callbackStatuses(receiver, reference), hasAtLeast(1));
      assert.deepEqual(callbackStatuses(receiver, reference), [status]);
    });
  }

  it('comes back to the phone that was shown, with what was decided', async () => {
    const reference = await waiting('requestToPay');
    const answer = await press({ reference, choice: 'approve' }, { query: '?phone=256772123099' });
    const location = answer.headers.get('location') ?? '';
    assert.equal(location, `/sandbox/transactions?phone=256772123099&answered=${reference}`);
    const page = await (await fetch(sandbox.url + location, { headers: HTML })).text();
    assert.match(page, /role="status">UGX\u00a0500: paid\./);
  });

  it('decides nothing for another site, for an unknown payment or for an unknown choice', async () => {
    const reference = await waiting('requestToPay');
    const fields = { reference, choice: 'approve' };
    assert.equal((await press(fields, { headers: { 'Sec-Fetch-Site': 'cross-site' } })).status, 403);
    assert.equal((await press({ ...fields, choice: 'pay' })).status, 404);
    assert.equal((await press({ ...fields, reference: 'x' })).status, 404);
    assert.equal((await client.seen(reference))?.['state'], 'PENDING');
  });
});
