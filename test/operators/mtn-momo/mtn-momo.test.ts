// The conformance suite with the MTN MoMo adapter, against the sandbox operator over real HTTP.
import { request } from 'undici';
import { createMtnMomo, type MtnMomoConfig } from '../../../src/operators/mtn-momo/mtn-momo.ts';
import {
  CREDENTIALS,
  DISBURSEMENT_CREDENTIALS,
  SHORT_TIMES,
  startReceiver,
  startTestSandbox,
  TARGET_ENVIRONMENT,
  wireClient,
} from '../../sandbox/sandbox-harness.ts';
import { ownTokens } from '../../support/own-tokens.ts';
import { conformsToThePort } from '../conformance.ts';
import type { AdapterHarness } from '../directions.ts';

conformsToThePort('MTN MoMo', startHarness);

async function startHarness(): Promise<AdapterHarness> {
  const sandbox = await startTestSandbox({ times: { ...SHORT_TIMES, reversalMs: 700 } });
  const receiver = await startReceiver();
  const client = wireClient(sandbox);
  const config: MtnMomoConfig = {
    baseUrl: sandbox.url,
    targetEnvironment: TARGET_ENVIRONMENT,
    callbackUrl: (reference) => `${receiver.url}/${reference}`,
    collection: CREDENTIALS,
    disbursement: DISBURSEMENT_CREDENTIALS,
    requestTimeoutMs: 3000,
    connections: 4,
    tokens: { collection: ownTokens(), disbursement: ownTokens() },
  };
  const operator = createMtnMomo(config);
  return {
    operator,
    money: { amountMinor: 150_000n, currency: 'UGX' },
    phone: (ending) => `256772123${ending}`,
    get callbacks() {
      return receiver.callbacks.map(({ body }) => body);
    },
    async seen(operatorReference) {
      const { requestsReceived, promptsRaised, transfersTaken } = (await client.seen(operatorReference)) ?? {};
      return {
        requestsReceived: Number(requestsReceived),
        timesAccepted: Number(promptsRaised) + Number(transfersTaken),
      };
    },
    async setFaults(faults) {
      const headers = { 'Content-Type': 'application/json' };
      const answer = await request(`${sandbox.url}/sandbox/faults`, {
        method: 'PUT',
        headers,
        body: JSON.stringify(faults),
      });
      await answer.body.dump();
    },
    undecidedMs: SHORT_TIMES.undecidedMs,
    promptExpiryMs: SHORT_TIMES.promptExpiryMs,
    async stop() {
      await operator.close();
      await sandbox.stop();
      await receiver.stop();
    },
  };
}
