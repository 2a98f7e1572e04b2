// Junk at the addresses that the Daraja adapter gave concludes nothing, whatever it looks like.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { FAILURE_CODES } from '../../../src/domain/payments/failure.ts';
import { readMessage } from '../../../src/operators/daraja/messages.ts';
import { payoutResult, promptCallback, reversalResult, statusResult } from './samples.ts';

const PURPOSES = ['result', 'timeout', 'query'] as const;
const KINDS = ['collection', 'payout', 'reversal'] as const;

describe('what is no message of Daraja', () => {
  const junk = fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true });
  /** Nothing that could be one of the numbers that say something. */
  const noCode = junk.filter(
    (value) => !(typeof value === 'string' || typeof value === 'number') || !/^\s*\d+\s*$/.test(String(value)),
  );

  it('never says that anything was paid or failed, and never throws', () => {
    fc.assert(
      fc.property(fc.constantFrom(...PURPOSES), fc.constantFrom(...KINDS), junk, (purpose, kind, body) => {
        assert.equal(readMessage(purpose, body, kind), null);
      }),
    );
  });

  it('says nothing either where it has the outer form of one', () => {
    const fields = fc.record(
      {
        ResultType: junk,
        ResultDesc: junk,
        OriginatorConversationID: junk,
        ConversationID: junk,
        ResultParameters: junk,
      },
      { requiredKeys: [] },
    );
    const callback = fc.record({ CheckoutRequestID: junk, CallbackMetadata: junk }, { requiredKeys: [] });
    fc.assert(
      fc.property(
        fc.constantFrom(...PURPOSES),
        fields,
        callback,
        noCode,
        fc.constantFrom(...KINDS),
        (purpose, result, stkCallback, ResultCode, kind) => {
          for (const body of [
            { Result: { ...result, ResultCode } },
            { Body: { stkCallback: { ...stkCallback, ResultCode } } },
          ]) {
            assert.match(readMessage(purpose, body, kind)?.status.kind ?? 'unknown', /^unknown$/);
          }
        },
      ),
    );
  });

  it('concludes nothing from a real message of which any one part is junk, but what the other parts say', () => {
    const real = fc.constantFrom(
      promptCallback(0),
      promptCallback(1032),
      payoutResult(0),
      payoutResult(2040),
      reversalResult(0),
      reversalResult(1),
      statusResult(),
    );
    const address = fc.tuple(fc.constantFrom(...PURPOSES), fc.constantFrom(...KINDS));
    fc.assert(
      fc.property(address, real, fc.nat(), noCode, ([purpose, kind], message, index, value) => {
        const body = structuredClone(message);
        const before = readMessage(purpose, body, kind)?.status.kind;
        replacePart(body, index, value);
        const status = readMessage(purpose, body, kind)?.status;
        if (status?.kind === 'failed') assert.ok(before === 'failed' && FAILURE_CODES.includes(status.code));
        if (status?.kind === 'succeeded') assert.equal(before, 'succeeded');
        if (status?.kind === 'returned') assert.fail('nothing was returned');
      }),
      { numRuns: 1000 },
    );
  });
});

/** Puts the value instead of one part, at any depth. */
function replacePart(root: object, index: number, value: unknown): void {
  const places: [object, string][] = [];
  const walk = (node: object): void => {
    for (const [key, child] of Object.entries(node)) {
      places.push([node, key]);
      if (typeof child === 'object' && child !== null) walk(child as object);
    }
  };
  walk(root);
  const [node, key] = places[index % places.length]!;
  Reflect.set(node, key, value);
}
