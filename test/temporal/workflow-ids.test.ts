// Workflow ids: one for each payment, and never longer than the 255 characters for which Temporal has room on PostgreSQL.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { newId } from '../../src/domain/ids.ts';
import type { CollectionWork, PayoutWork, Work } from '../../src/domain/work.ts';
import { workflowStartOf } from '../../src/temporal/workflow-starts.ts';
import {
  ledgerCheckScheduleId,
  operatorTaskQueue,
  reconciliationScheduleId,
  wholeLedgerCheckScheduleId,
} from '../../workflows/contract.ts';

const START = { taskQueuePrefix: 'malipo', workflowTaskTimeoutMs: 1000 };
const LONGEST_ID = 255;
const merchantId = newId('mer');

type KeyedKind = 'collection' | 'payout';

function work(kind: KeyedKind, idempotencyKey: string): CollectionWork | PayoutWork {
  const common = { merchantId, operator: 'mtn-momo', idempotencyKey, updatedAt: new Date() } as const;
  return kind === 'collection'
    ? { kind, id: newId('col'), state: 'initiated', ...common }
    : { kind, id: newId('pay'), state: 'queued', expiresAt: new Date(), ...common };
}

function idOf(started: Work): string {
  return workflowStartOf(started, START).options.workflowId;
}

const plainCharacter = fc.constantFrom(...Array.from('ABCXYZabcxyz019._:-'));
const visibleCharacter = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
const keyOf = (unit: fc.Arbitrary<string>, minLength: number, maxLength: number) =>
  fc.string({ unit, minLength, maxLength });
const hashOf = (key: string) => createHash('sha256').update(key).digest('hex');

// Plain keys, long ones, ones with any character, and ones that are made to look like the form of another key.
const anyKey = fc
  .oneof(keyOf(plainCharacter, 1, 100), keyOf(plainCharacter, 101, 255), keyOf(visibleCharacter, 1, 255))
  .chain((key) => fc.constantFrom(key, hashOf(key), `sha256/${hashOf(key)}`, `sha256:${hashOf(key)}`));
const anyKind = fc.constantFrom<KeyedKind>('collection', 'payout');

describe('a workflow id', () => {
  it('is never longer than 255 visible characters, whatever the idempotency key', () => {
    fc.assert(
      fc.property(anyKind, anyKey, (kind, key) => {
        const id = idOf(work(kind, key));
        assert.ok(id.length <= LONGEST_ID, `${id.length} characters`);
        assert.match(id, new RegExp(`^${kind}/${merchantId}/[A-Za-z0-9._:/-]+$`));
      }),
    );
    const longest = '~'.repeat(255);
    for (const kind of ['collection', 'payout'] as const) assert.ok(idOf(work(kind, longest)).length <= LONGEST_ID);
  });

  it('differs for two different idempotency keys of one merchant', () => {
    const related = anyKey.chain((key) =>
      fc.tuple(
        fc.constant(key),
        fc.oneof(anyKey, fc.constantFrom(`${key}x`, key.slice(0, 100), hashOf(key), `sha256/${hashOf(key)}`)),
      ),
    );
    fc.assert(
      fc.property(anyKind, related, (kind, [one, other]) => {
        assert.equal(idOf(work(kind, one)) === idOf(work(kind, other)), one === other);
      }),
      { numRuns: 2000 },
    );
  });

  it('shows no idempotency key, into which a merchant may write a phone or a name, but its SHA-256', () => {
    for (const key of ['a', 'rent-of-Akello-256772000100', 'k'.repeat(101), 'a/b', '~'.repeat(255)]) {
      assert.equal(idOf(work('collection', key)), `collection/${merchantId}/${hashOf(key)}`);
      assert.equal(idOf(work('payout', key)), `payout/${merchantId}/${hashOf(key)}`);
    }
  });

  it('stays within the bound for reversals, and for deliveries that were replayed without end', () => {
    const at = new Date();
    const delivery = {
      kind: 'delivery',
      id: newId('dlv'),
      merchantId,
      endpointId: newId('whe'),
      nextAttemptAt: at,
    } as const;
    const waiting = { state: 'queued', updatedAt: at, expiresAt: at } as const;
    const works: Work[] = [
      { kind: 'reversal', id: newId('rev'), merchantId, operator: 'mtn-momo', ...waiting },
      { ...delivery, replayCount: 2 ** 31 - 1 },
    ];
    for (const each of works) assert.ok(idOf(each).length < 100, idOf(each));
  });
});

describe('the names of task queues and schedules', () => {
  it('stay within the bound with the longest prefix that the configuration accepts', () => {
    const prefix = 'p'.repeat(40);
    // A schedule adds a word and the time to its id, for the ids of the runs that it starts.
    const addition = '-workflow-2026-11-22T04:10:33Z'.length;
    for (const idFor of [reconciliationScheduleId, ledgerCheckScheduleId, wholeLedgerCheckScheduleId])
      assert.ok(idFor(prefix).length + addition < 100);
    assert.ok(operatorTaskQueue(prefix, 'mtn-momo').length < 100);
  });
});
