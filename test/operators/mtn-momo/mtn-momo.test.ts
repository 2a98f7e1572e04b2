// The conformance suite with the MTN MoMo adapter, against the sandbox operator over real HTTP.
import { createMtnMomo, type MtnMomoConfig } from '../../../src/operators/mtn-momo/mtn-momo.ts';
import {
  countsOf,
  CREDENTIALS,
  DISBURSEMENT_CREDENTIALS,
  setFaults,
  SHORT_TIMES,
  startReceiver,
  startTestSandbox,
  TARGET_ENVIRONMENT,
  wireClient,
} from '../../sandbox/sandbox-harness.ts';
import { ownTokens } from '../../support/own-tokens.ts';
import { conformsToThePort } from '../conformance.ts';
import type { AdapterHarness } from '../directions.ts';

conformsToThePort('mtn-momo', startHarness);

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
    messages: null,
    seen: (operatorReference) => countsOf(client, operatorReference),
    setFaults: (faults) => setFaults(sandbox, faults),
    undecidedMs: SHORT_TIMES.undecidedMs,
    promptExpiryMs: SHORT_TIMES.promptExpiryMs,
    async stop() {
      await operator.close();
      await sandbox.stop();
      await receiver.stop();
    },
  };
}
