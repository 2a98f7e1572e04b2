// The demo merchant of the embedded start: created once with its two people, and completed if it is of an older
// version.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findApiKeyByHash } from '../../src/db/accounts/api-key.ts';
import { hashApiKey } from '../../src/security/api-key.ts';
import type { MerchantId } from '../../src/domain/ids.ts';
import { verifyPassword } from '../../src/security/password.ts';
import { open } from '../../src/security/sealing.ts';
import { findUserByEmail } from '../../src/db/accounts/user.ts';
import { listEndpoints } from '../../src/db/webhooks/endpoint.ts';
import { registerEndpoint } from '../../src/operations/webhooks/register-endpoint.ts';
import { merchantSettings, seedDemoMerchant, type DemoMerchant } from '../../src/dev/demo-merchant.ts';
import { DEMO_PROFILES } from '../../src/dev/demo-profiles.ts';
import { parsePhone } from '../../src/domain/payments/phone.ts';
import { coverageOf, OPERATORS, routePhone } from '../../src/domain/payments/operator-catalogue.ts';
import { KEY_RING, allRows } from '../db/rows.ts';
import { rewrite } from '../support/attestation.ts';
import { createTestDatabase, runFolder } from '../support/engines.ts';
import { useDatabase } from '../db/use-database.ts';
import { columnsOf } from '../support/values-of.ts';

describe('the demo merchant', () => {
  const db = useDatabase();

  const newFile = () => join(mkdtempSync(join(runFolder(), 'demo-')), 'demo-merchant.json');
  const [profile, kenyan] = DEMO_PROFILES;
  const seed = (file: string, port = 8091) =>
    seedDemoMerchant({ db, profile, file, webhookUrl: `http://127.0.0.1:${port}/webhooks`, keyRing: KEY_RING });
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as DemoMerchant;
  const makerOf = async (demo: DemoMerchant) => {
    const [key, user] = await Promise.all([
      findApiKeyByHash(db, hashApiKey(demo.apiKey)),
      findUserByEmail(db, demo.people.maker.email),
    ]);
    return { key, user };
  };

  it('has a maker, who created its key, and an approver, each with password and second factor', async () => {
    const file = newFile();
    const demo = await seed(file);
    assert.deepEqual(read(file), demo);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const { key, user } = await makerOf(demo);
    assert.ok(key?.scopes.includes('payouts:write') && key.maker === user?.id);
    for (const [person, roles] of [
      [demo.people.maker, ['maker', 'developer']],
      [demo.people.approver, ['approver', 'admin']],
    ] as const) {
      const known = (await findUserByEmail(db, person.email))!;
      assert.ok(await verifyPassword(known.passwordHash, person.password));
      assert.equal(open(known.totpSecretSealed!, known.id, KEY_RING), person.totpSecret);
      assert.deepEqual(await allRows(db, 'SELECT roles FROM members WHERE user_id = $1', [known.id]), [{ roles }]);
    }
  });

  it('is the same at the next start, also when its receiver has moved', async () => {
    const file = newFile();
    const demo = await seed(file);
    assert.deepEqual(await seed(file), demo);
    const moved = await seed(file, 9091);
    assert.deepEqual([moved.apiKey, moved.people, moved.merchantId], [demo.apiKey, demo.people, demo.merchantId]);
    assert.notEqual(moved.webhookSecret, demo.webhookSecret);
    assert.deepEqual(read(file), moved);
  });

  it('has one endpoint at the receiver’s current address, and those that people registered', async () => {
    const file = newFile();
    const demo = await seed(file);
    const merchantId = demo.merchantId as MerchantId;
    const own = { url: 'https://shop.example/', description: null, eventTypes: null };
    await registerEndpoint(db, { merchantId, ...own, keyRing: KEY_RING, at: new Date() });
    await seed(file, 9091);
    const { items } = await listEndpoints(db, merchantId, null, 16);
    assert.deepEqual(columnsOf(items, 'url', 'state'), [
      ['http://127.0.0.1:9091/webhooks', 'enabled'],
      ['https://shop.example/', 'enabled'],
    ]);
  });

  it('gets people and a key with a maker when it is of an older version; the old key stays valid', async () => {
    const file = newFile();
    const { people, ...old } = await seed(file);
    writeFileSync(file, JSON.stringify(old));
    const demo = await seed(file);
    assert.deepEqual([demo.merchantId, demo.webhookSecret], [old.merchantId, old.webhookSecret]);
    assert.notEqual(demo.apiKey, old.apiKey);
    assert.notEqual(demo.people.maker.password, people.maker.password);
    const { key, user } = await makerOf(demo);
    assert.ok(key?.maker && key.maker === user?.id);
    assert.ok(await verifyPassword(user.passwordHash, demo.people.maker.password));
    assert.ok(await findApiKeyByHash(db, hashApiKey(old.apiKey)));
    assert.deepEqual(await seed(file), demo);
  });

  for (const [what, end] of [
    ['has expired', "now() - interval '1 s'"],
    ['is about to expire', "now() + interval '59 days'"],
  ] as const) {
    it(`gets another key from its maker when its key ${what}, and stays the same otherwise`, async () => {
      const file = newFile();
      const demo = await seed(file);
      const digest = hashApiKey(demo.apiKey);
      await rewrite(db, `UPDATE api_keys SET expires_at = ${end} WHERE key_sha256 = $1`, [digest]);
      const next = await seed(file);
      assert.notEqual(next.apiKey, demo.apiKey);
      assert.deepEqual({ ...next, apiKey: demo.apiKey }, demo);
      const { key, user } = await makerOf(next);
      assert.ok(key?.maker && key.maker === user?.id);
      assert.deepEqual(await seed(file), next);
    });
  }

  it('is created again when the database is another one', async () => {
    const file = newFile();
    const demo = await seed(file);
    const fresh = await createTestDatabase();
    const other = await seedDemoMerchant({
      db: fresh.db,
      profile,
      file,
      webhookUrl: demo.webhookUrl,
      keyRing: KEY_RING,
    });
    await fresh.drop();
    assert.notEqual(other.merchantId, demo.merchantId);
    assert.notEqual(other.people.maker.email, demo.people.maker.email);
  });

  it('has its key, webhooks and log-ins in the settings for a shell', async () => {
    const demo = await seed(newFile());
    const { maker, approver } = demo.people;
    assert.deepEqual(merchantSettings(demo, kenyan.settingsPrefix, 'http://127.0.0.1:8092/'), {
      MALIPO_KES_API_KEY: demo.apiKey,
      MALIPO_KES_WEBHOOK_SECRET: demo.webhookSecret,
      MALIPO_KES_WEBHOOK_INBOX_URL: 'http://127.0.0.1:8092/',
      MALIPO_KES_MAKER_EMAIL: maker.email,
      MALIPO_KES_MAKER_PASSWORD: maker.password,
      MALIPO_KES_MAKER_TOTP_SECRET: maker.totpSecret,
      MALIPO_KES_APPROVER_EMAIL: approver.email,
      MALIPO_KES_APPROVER_PASSWORD: approver.password,
      MALIPO_KES_APPROVER_TOTP_SECRET: approver.totpSecret,
    });
    assert.equal(merchantSettings(demo, profile.settingsPrefix, '')['MALIPO_API_KEY'], demo.apiKey);
  });
});

describe('the demo merchants', () => {
  const db = useDatabase();

  it('are in Uganda and Kenya, with people of their own', async () => {
    const folder = mkdtempSync(join(runFolder(), 'demo-'));
    const merchants = [];
    for (const profile of DEMO_PROFILES) {
      const webhookUrl = 'http://127.0.0.1:8091/webhooks';
      const demo = await seedDemoMerchant({
        db,
        profile,
        file: join(folder, profile.file),
        webhookUrl,
        keyRing: KEY_RING,
      });
      merchants.push(demo);
      assert.deepEqual(await allRows(db, 'SELECT currency FROM merchants WHERE id = $1', [demo.merchantId]), [
        { currency: profile.currency },
      ]);
    }
    const people = merchants.flatMap(({ people: { maker, approver } }) => [maker.email, approver.email]);
    assert.equal(new Set(people).size, 4);
  });

  it('have payers of every operator that the demonstration reaches, each of which a phone leads to', () => {
    const coverage = coverageOf({ 'mtn-momo': null, 'airtel-money': 'UG', daraja: 'KE' });
    const reached = DEMO_PROFILES.flatMap(({ currency, payers }) =>
      payers.map(({ phone, operator }) => {
        const route = routePhone(parsePhone(phone)!, currency, coverage);
        assert.ok(route.kind === 'operator' && OPERATORS[route.operator].name === operator, phone);
        return operator;
      }),
    );
    assert.deepEqual(
      reached.sort(),
      Object.values(OPERATORS)
        .map(({ name }) => name)
        .sort(),
    );
  });
});
