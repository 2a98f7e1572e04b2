// The inspection pages of the sandbox operator, and its fault switches.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { request } from 'undici';
import { COLLECTION_BEHAVIOURS, PAYOUT_BEHAVIOURS } from '../../src/sandbox/behaviours.ts';
import { assertRefused, payment, startTestSandbox, submit, useSandbox, wireClient } from './sandbox-harness.ts';

describe('the inspection of the sandbox operator', () => {
  const { sandbox, client } = useSandbox();

  async function transactions(query: string): Promise<Record<string, unknown>[]> {
    const answer = await request(`${sandbox.url}/sandbox/transactions${query}`);
    return (await answer.body.json()) as Record<string, unknown>[];
  }

  async function putFaults(faults: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
    const headers = { 'Content-Type': 'application/json' };
    const url = `${sandbox.url}/sandbox/faults`;
    const answer = await request(url, { method: 'PUT', headers, body: JSON.stringify(faults) });
    return { status: answer.statusCode, body: (await answer.body.json()) as Record<string, unknown> };
  }

  it('shows every row of the table to a browser and to a program', async () => {
    const html = await request(`${sandbox.url}/sandbox`, { headers: { Accept: 'text/html,*/*;q=0.8' } });
    assert.match(String(html.headers['content-type']), /^text\/html/);
    const page = await html.body.text();
    for (const [row, { summary }] of COLLECTION_BEHAVIOURS)
      assert.ok(
        page.includes(`<td>${row}</td><td>${summary}</td><td>${PAYOUT_BEHAVIOURS.get(row)?.summary ?? 'paid'}`),
      );
    const json = await request(`${sandbox.url}/sandbox`);
    const { endings } = (await json.body.json()) as { endings: unknown[] };
    assert.equal(endings.length, COLLECTION_BEHAVIOURS.size);
  });

  it('finds transactions by phone and by reference, newest first', async () => {
    const references = [await submit(client, 'requestToPay', '010'), await submit(client, 'requestToPay', '010')];
    const byPhone = await transactions('?phone=256772123010');
    const found = byPhone.map((found) => found['operatorReference']);
    assert.deepEqual(found, references.toReversed());
    const [first] = await transactions(`?reference=${references[0]?.toUpperCase()}`);
    assert.ok(first !== undefined);
    assert.equal(first['operatorReference'], references[0]);
    assert.equal(first['amount'], '500');
    assert.equal(first['currency'], 'UGX');
    assert.equal(first['state'], 'PENDING');
    assert.deepEqual(await transactions('?phone=256700000000'), []);
    assert.deepEqual(await transactions(`?reference=${randomUUID()}`), []);
  });

  it('finds transactions by kind and phone', async () => {
    const collected = await submit(client, 'requestToPay', '099');
    const sent = await submit(client, 'transfer', '099');
    const found = async (query: string) =>
      (await transactions(`?phone=256772123099${query}`)).map(({ operatorReference }) => operatorReference);
    assert.deepEqual(await found(''), [sent, collected]);
    assert.deepEqual(await found('&kind=payout'), [sent]);
    assert.deepEqual(await found('&kind=collection'), [collected]);
    assert.deepEqual(await found('&kind=refund'), []);
  });

  describe('the fault switches', () => {
    afterEach(() => putFaults({}));

    it('are off until they are set, and off again when a request leaves them out', async () => {
      const off = { latencyMs: 0, errorRate: 0, down: false, throttled: false, accountRefused: false, floatLow: false };
      assert.deepEqual(await (await request(`${sandbox.url}/sandbox/faults`)).body.json(), off);
      assert.deepEqual((await putFaults({ latencyMs: 5 })).body, { ...off, latencyMs: 5 });
      assert.deepEqual((await putFaults({})).body, off);
    });

    it('refuse invalid values', async () => {
      for (const wrong of [{ latencyMs: -1 }, { errorRate: 2 }, { down: 'yes' }, { dwon: true }, [], null]) {
        assert.equal((await putFaults(wrong)).status, 400, JSON.stringify(wrong));
      }
    });

    it('cut every connection with “down”, except those of the inspection', async () => {
      await client.balance();
      await putFaults({ down: true });
      await assert.rejects(client.balance());
      assert.deepEqual(await transactions('?phone=256700000000'), []);
      await putFaults({});
      assert.equal((await client.balance()).status, 200);
    });

    it('cause a 429 for every request with “throttled”, a 403 with “accountRefused”, and nothing is accepted', async () => {
      for (const [switches, status] of [
        [{ throttled: true }, 429],
        [{ accountRefused: true }, 403],
      ] as const) {
        const reference = randomUUID();
        await putFaults({});
        await client.balance();
        await putFaults(switches);
        const answer = await client.requestToPay(payment('999', reference), { 'X-Reference-Id': reference });
        assert.equal(answer.status, status);
        await putFaults({});
        assert.equal((await client.status(reference)).status, 404);
      }
    });

    it('cause a 500 for every request with an error rate of one, and nothing is accepted', async () => {
      const reference = randomUUID();
      await client.balance();
      await putFaults({ errorRate: 1 });
      const answer = await client.requestToPay(payment('999', reference), { 'X-Reference-Id': reference });
      assertRefused(answer, 500, 'INTERNAL_PROCESSING_ERROR');
      await putFaults({});
      assert.equal((await client.status(reference)).status, 404);
    });

    it('delay every response with a latency, for which a stop does not wait', async () => {
      await putFaults({ latencyMs: 60 });
      const startMs = performance.now();
      assert.equal((await client.balance()).status, 200);
      assert.ok(performance.now() - startMs >= 58);
      const slow = await startTestSandbox();
      const headers = { 'Content-Type': 'application/json' };
      await (
        await request(`${slow.url}/sandbox/faults`, { method: 'PUT', headers, body: '{"latencyMs":60000}' })
      ).body.dump();
      const waiting = assert.rejects(wireClient(slow).token());
      await slow.stop();
      await waiting;
    });
  });
});
