// The ids of traces, and what a caller's `traceparent` may be.
import assert from 'node:assert/strict';
import { newId } from '../../src/domain/ids.ts';
import { parseTraceparent, spanIdOf, traceIdOf } from '../../src/domain/trace.ts';

describe('the ids of traces and spans', () => {
  it('have the form of W3C’s Trace Context, and are the same in every process', () => {
    const id = newId('col');
    assert.match(traceIdOf(id), /^[0-9a-f]{32}$/);
    assert.match(spanIdOf(id), /^[0-9a-f]{16}$/);
    assert.deepEqual([traceIdOf(id), spanIdOf(id)], [traceIdOf(id), spanIdOf(id)]);
    assert.notEqual(traceIdOf(id), traceIdOf(newId('col')));
  });
});

describe('a traceparent', () => {
  const [traceId, spanId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];

  it('is read in the form of version 00, and of later versions that add to its end', () => {
    for (const header of [
      `00-${traceId}-${spanId}-01`,
      `00-${traceId}-${spanId}-00`,
      `cc-${traceId}-${spanId}-01-more`,
    ]) {
      assert.deepEqual(parseTraceparent(header), { traceId, spanId }, header);
    }
  });

  it('is ignored in every other form', () => {
    for (const header of [
      '',
      `00-${traceId}-${spanId}`,
      `ff-${traceId}-${spanId}-01`,
      `00-${traceId}-${spanId}-01-more`,
      `00-${'0'.repeat(32)}-${spanId}-01`,
      `00-${traceId}-${'0'.repeat(16)}-01`,
      `00-${traceId.toUpperCase()}-${spanId}-01`,
      `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
      `cc-${traceId}-${spanId}-01-${'x'.repeat(200)}`,
    ]) {
      assert.equal(parseTraceparent(header), null, header);
    }
  });
});
