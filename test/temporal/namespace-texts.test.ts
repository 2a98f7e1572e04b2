// Texts that the Temporal namespace keeps, on a real server.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createTemporalClient, type TemporalClient } from '../../src/temporal/client.ts';
import { NAMESPACE, prepareRuntime, temporal, testLog } from '../support/engines.ts';

describe('a text in the namespace', () => {
  let client: TemporalClient;

  before(async () => {
    await prepareRuntime();
    client = createTemporalClient({
      target: { address: (await temporal()).address },
      namespace: NAMESPACE,
      taskQueuePrefix: 'none',
      workflowTaskTimeoutMs: 1000,
      callTimeoutMs: 10_000,
      log: testLog,
    });
    await client.whenConnected();
  });
  after(() => client.close());

  it('is kept under its name, beside others, and replaced', async () => {
    const [one, other] = [`test.${randomUUID()}`, `test.${randomUUID()}`];
    assert.deepEqual(await client.readNamespaceText(one), { text: null });
    for (const [name, text] of [
      [one, '1'],
      [other, 'x'],
      [one, '2'],
    ] as const)
      assert.equal(await client.writeNamespaceText(name, text), 'kept');
    assert.deepEqual(
      [await client.readNamespaceText(one), await client.readNamespaceText(other)],
      [{ text: '2' }, { text: 'x' }],
    );
  });
});
