// Tests that an endpoint that keeps up gets more attempts at once than it began with, and one that is overloaded gets fewer.
import assert from 'node:assert/strict';
import { makeBacklog, type BacklogTarget } from '../../bench/backlog.ts';
import { LEAST_COUNT, STARTING_COUNT } from '../../src/domain/webhooks/endpoint-limit.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { backlogTarget } from '../support/deliveries.ts';

describe('the attempts at once to one endpoint', () => {
  const testEnv = useTestEnvironment({
    environment: {
      MALIPO_DELIVERY_TIMEOUT_MS: '60000',
      MALIPO_DELIVERY_SCHEDULE_MS: ['0', ...Array<string>(50).fill('1000')].join(','),
    },
  });

  /**
   * An endpoint that answers like this after a while, the first time only once `together` requests are open; `atOnce` says for each
   * request how many were open with it.
   */
  async function addEndpoint(
    statusCode: number,
    together: number,
  ): Promise<{ target: BacklogTarget; atOnce: number[] }> {
    const merchant = await testEnv.addMerchant();
    const atOnce: number[] = [];
    const held: (() => void)[] = [];
    let open = 0;
    testEnv.receiver.answerWith(merchant.id, (_received, response) => {
      atOnce.push(++open);
      held.push(() => {
        open -= 1;
        response.writeHead(statusCode).end();
      });
      if (atOnce.length < together) return;
      setTimeout(() => {
        for (const answer of held.splice(0)) answer();
      }, 30);
    });
    return { target: await backlogTarget(testEnv, merchant.id), atOnce };
  }

  it('become more than at the beginning while it keeps up', async () => {
    const { target, atOnce } = await addEndpoint(200, 1);
    await makeBacklog(testEnv.db, [target], { count: 1500 });
    await eventually('more at once', () => Math.max(0, ...atOnce) > STARTING_COUNT);
    await eventually('all events', () => atOnce.length >= 1500);
  });

  it('become as few as possible while it answers that it is overloaded', async () => {
    const { target, atOnce } = await addEndpoint(503, 12);
    await makeBacklog(testEnv.db, [target], { count: 200, state: 'retrying' });
    // Those that began before the first, the second and the third fall.
    const before = STARTING_COUNT + STARTING_COUNT / 2 + STARTING_COUNT / 4;
    await eventually('many more attempts', () => atOnce.length > before + 40);
    const most = Math.max(...atOnce.slice(before));
    assert.ok(most <= LEAST_COUNT, `${most} at once`);
    assert.ok(Math.max(...atOnce) >= 12);
  });
});
