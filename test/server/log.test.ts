// Errors in the log: enough to correct them, and nothing personal or secret.
import assert from 'node:assert/strict';
import { runInNewContext } from 'node:vm';
import { DatabaseError } from 'pg';
import { insertCollection } from '../../src/db/payments/collection.ts';
import { createLog } from '../../src/log.ts';
import { createTestDatabase } from '../support/engines.ts';
import { makeMerchant, newCollection } from '../db/rows.ts';

type Line = Readonly<Record<string, unknown>>;
type Described = { type: string; message: string; stack: string; code?: unknown; cause?: Described } & Line;

/** The line that the log writes of this. */
function written(fields: object): { text: string; line: Line } {
  let text = '';
  const destination = {
    write: (line: string): void => {
      text += line;
    },
  };
  createLog({ level: 'info', process: 'test', destination }).error(fields, 'it failed');
  return { text, line: JSON.parse(text) as Line };
}

describe('the log', () => {
  it('names the rule that refused a row, and none of the row’s values', async () => {
    const database = await createTestDatabase();
    const { db } = database;
    try {
      const refused = newCollection(await makeMerchant(db), { reference: '' });
      const { phone, idempotencyKey } = refused;
      const thrown: unknown = await db
        .withTransaction((tx) => insertCollection(tx, refused))
        .catch((error: unknown) => error);
      assert.ok(thrown instanceof DatabaseError && thrown.detail?.includes(phone));
      const outer = new Error('the payment was not recorded', { cause: thrown });
      const { text, line } = written({ error: outer });
      assert.ok(!text.includes(phone) && !text.includes(idempotencyKey), text);
      const { type, message, cause } = line['error'] as Described;
      assert.deepEqual([type, message], ['Error', 'the payment was not recorded']);
      assert.equal(cause?.type, 'DatabaseError');
      assert.equal(cause.code, '23514');
      assert.equal(cause['constraint'], 'payments_reference_check');
      assert.equal(cause['table'], 'payments');
      assert.match(cause.stack, /at /);
    } finally {
      await database.drop();
    }
  });

  it('shows the errors within an aggregate error', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED ::1'), { code: 'ECONNREFUSED', phone: '256772' });
    const { text, line } = written({ error: new AggregateError([refused]) });
    const { errors } = line['error'] as { errors: Described[] };
    assert.deepEqual([errors[0]?.message, errors[0]?.code], ['connect ECONNREFUSED ::1', 'ECONNREFUSED']);
    assert.ok(!text.includes('256772'));
  });

  it('does not show a thrown object, or one used as a cause, that is no error', () => {
    for (const error of [{ phone: '256772' }, new Error('outer', { cause: { body: '256772' } })]) {
      assert.ok(!written({ error }).text.includes('256772'));
    }
  });

  it('shows an error of workflow code, whose `Error` is another one than ours', () => {
    const thrown: unknown = runInNewContext(`new TypeError('outer', { cause: new Error('inner') })`);
    const { type, message, cause } = written({ error: thrown }).line['error'] as Described;
    assert.deepEqual([type, message, cause?.message], ['TypeError', 'outer', 'inner']);
  });

  it('cuts a circular chain of causes', () => {
    const one = new Error('one');
    const other = new Error('other', { cause: one });
    one.cause = other;
    assert.equal((written({ error: one }).line['error'] as Described).cause?.message, 'other');
  });
});
