// The conformance suite with the Airtel Money adapter, against the sandbox operator over real HTTP.
import { marketOf } from '../../../src/domain/payments/operator-catalogue.ts';
import { ownTokens } from '../../support/own-tokens.ts';
import { createAirtelMoney } from '../../../src/operators/airtel-money/airtel-money.ts';
import { transactionIdOf } from '../../../src/operators/airtel-money/transaction-id.ts';
import {
  AIRTEL,
  countsOf,
  setFaults,
  SHORT_TIMES,
  startReceiver,
  startTestSandbox,
  wireClient,
} from '../../sandbox/sandbox-harness.ts';
import { conformsToThePort } from '../conformance.ts';
import { collectionOf, type AdapterHarness } from '../directions.ts';

conformsToThePort('airtel-money', startHarness);

/** A refund has the name of its collection. */
function nameOf(operatorReference: string): string {
  const collection = collectionOf(operatorReference);
  return collection === undefined
    ? transactionIdOf(operatorReference)
    : `refund-${transactionIdOf(collection.reference)}`;
}

async function startHarness(): Promise<AdapterHarness> {
  const receiver = await startReceiver();
  const sandbox = await startTestSandbox({
    airtel: { ...AIRTEL, callbackUrl: receiver.url },
    times: { ...SHORT_TIMES, reversalMs: 700 },
  });
  const client = wireClient(sandbox);
  const { clientId, clientSecret, pin } = AIRTEL;
  const operator = createAirtelMoney({
    baseUrl: sandbox.url,
    credentials: { clientId, clientSecret },
    pin,
    market: marketOf('airtel-money', 'UG'),
    requestTimeoutMs: 3000,
    connections: 4,
    tokens: ownTokens(),
  });
  return {
    operator,
    money: { amountMinor: 150_000n, currency: 'UGX' },
    phone: (ending) => `256752123${ending}`,
    get callbacks() {
      return receiver.callbacks.map(({ body }) => body);
    },
    messages: null,
    seen: (operatorReference) => countsOf(client, nameOf(operatorReference)),
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
