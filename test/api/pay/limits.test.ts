// Nobody makes the phones of strangers ring: attempts are limited by phone, by checkout and by address, over all processes.
import assert from 'node:assert/strict';
import { phoneFor } from '../../support/payments.ts';
import { eventually } from '../../support/test-environment.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { countRows, record } from '../../db/rows.ts';
import { findCollection } from '../../../src/db/payments/collection.ts';
import type { CollectionId } from '../../../src/domain/ids.ts';
import { API_ONLY, startAnotherServer } from '../responses.ts';
import { checkoutMaker, openPayer, type MakeCheckout, type PayPage } from './payer.ts';

const PROXIED = { environment: { ...API_ONLY.environment, MALIPO_TRUSTED_PROXIES: '1' } };
const PER_PHONE = 5;
const PER_ONE_TIME = 20;
const PER_ADDRESS = 4;

describe('the attempts at checkouts', function () {
  this.timeout(200_000);
  const testEnv = useTestEnvironment(PROXIED);
  let make: MakeCheckout;
  before(async () => {
    ({ make } = await checkoutMaker(testEnv));
  });

  const addressOf = (last: number) => `203.0.113.${last}`;

  function assertLimited({ status, heading, headers, html }: PayPage): void {
    assert.deepEqual([status, heading], [429, 'Too many attempts']);
    const seconds = Number(headers.get('retry-after'));
    assert.ok(seconds > 0 && seconds <= 24 * 3600);
    assert.match(html, new RegExp(`Wait ${Math.ceil(seconds / 60)} min`));
    assert.match(html, /Nothing was sent to any phone/);
  }

  it('make one phone ring at most five times in a quarter of an hour, over all addresses and checkouts', async () => {
    const phone = phoneFor('000');
    for (let made = 0; made < PER_PHONE; made++)
      await openPayer(testEnv, addressOf(made)).attempt((await make()).path, phone);
    const { path } = await make({ use: 'reusable' });
    assertLimited(await openPayer(testEnv, addressOf(99)).pay(path, `+${phone}`));
    assert.equal(await countRows(testEnv.db, "payments WHERE kind = 'collection' AND phone = $1", [phone]), PER_PHONE);
    // What was refused counts for nobody: another phone pays there.
    await openPayer(testEnv, addressOf(99)).attempt(path, phoneFor('000'));
  });

  it('are as many at a one-time checkout as one purchase can need', async () => {
    const { path, id } = await make();
    for (let made = 0; made < PER_ONE_TIME; made++) {
      await openPayer(testEnv, addressOf(100 + made)).attempt(path, phoneFor('000'));
      await failNewest(id);
    }
    assertLimited(await openPayer(testEnv, addressOf(200)).pay(path, phoneFor('000')));
  });

  /** The operator refuses the newest attempt. */
  async function failNewest(checkoutId: string): Promise<void> {
    const { rows } = await testEnv.db.pool.query<{ id: CollectionId }>(
      'SELECT collection_id AS id FROM checkout_attempts WHERE checkout_id = $1 ORDER BY collection_id DESC LIMIT 1',
      [checkoutId],
    );
    const collection = await findCollection(testEnv.db, testEnv.merchant.id, rows[0]!.id);
    await record(testEnv.db, collection!, { kind: 'declined', failureCode: 'wrong_pin' });
  }

  it('are limited per address if a deployment sets it, and a block of IPv6 is one address', async () => {
    const limited = { MALIPO_CHECKOUT_ATTEMPTS_PER_ADDRESS: String(PER_ADDRESS), MALIPO_TRUSTED_PROXIES: '1' };
    const [one, other] = [await startAnotherServer(testEnv, limited), await startAnotherServer(testEnv, limited)];
    const { path } = await make({ use: 'reusable' });
    const from = (host: string, server = one) => openPayer(server, host);
    for (let made = 0; made < PER_ADDRESS; made++)
      await from(`2001:db8::${made + 1}`, made % 2 === 0 ? one : other).attempt(path, phoneFor('000'));
    assertLimited(await from('2001:db8::99').pay(path, phoneFor('000')));
    assertLimited(await from('2001:db8::99', other).pay(path, phoneFor('000')));
    await from('2001:db8:0:1::1').attempt(path, phoneFor('000'));
    assert.equal(await countRows(testEnv.db, "attempt_counters WHERE subject LIKE '%' || $1 || '%'", [path]), 0);
  });

  it('count no form that is posted again', async () => {
    const { path } = await make();
    const payer = openPayer(testEnv, addressOf(1));
    const { fields } = await payer.open(path);
    const phone = phoneFor('000');
    for (let posts = 0; posts < 2 * PER_PHONE; posts++)
      assert.equal((await payer.post(path, { ...fields, phone })).status, 303);
  });

  it('are refused before anything is sent while too much work waits', async () => {
    const { baseUrl } = await startAnotherServer(testEnv, { MALIPO_BACKLOG_MAX_COUNT: '1' });
    const { path } = await make({ use: 'reusable' });
    const page = await eventually('a refusal', async () => {
      const answer = await openPayer({ baseUrl }, undefined).pay(path, phoneFor('000'));
      return answer.status === 503 && answer;
    });
    assert.equal(page.heading, 'We cannot take your payment right now');
    assert.match(page.headers.get('retry-after') ?? '', /^[1-9]/);
  });
});
