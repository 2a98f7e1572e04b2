// A demo merchant of the embedded start: created once, and kept in a file that only this user can read.
import { z } from 'zod';
import type { Database } from '../db/platform/database.ts';
import { MAX_PAYOUT_KEY_LIFE_MS, SCOPES } from '../domain/accounts/api-key.ts';
import { DomainError } from '../domain/errors.ts';
import { MAX_ENDPOINTS_PER_MERCHANT } from '../domain/webhooks/endpoint.ts';
import type { MerchantId, UserId } from '../domain/ids.ts';
import type { KeyRing } from '../security/sealing.ts';
import { authenticateApiKey } from '../operations/accounts/authenticate-api-key.ts';
import { createApiKey } from '../operations/accounts/create-api-key.ts';
import { createMerchant } from '../operations/accounts/create-merchant.ts';
import { deleteEndpoint } from '../operations/webhooks/change-endpoint.ts';
import { listMembers } from '../operations/accounts/list-members.ts';
import { listEndpoints } from '../db/webhooks/endpoint.ts';
import { registerEndpoint } from '../operations/webhooks/register-endpoint.ts';
import { addDemoPeople, demoPeopleSchema, peopleSettings } from './demo-people.ts';
import type { DemoProfile } from './demo-profiles.ts';
import { readJsonFile } from './json-file.ts';
import { writePrivateFile } from '../engines/process/private-file.ts';

const demoSchema = z.object({
  merchantId: z.string(),
  apiKey: z.string(),
  webhookUrl: z.string(),
  webhookSecret: z.string(),
  people: demoPeopleSchema,
});

/** The file of an older version, without people. */
const oldDemoSchema = demoSchema.extend({ people: demoPeopleSchema.optional() });

export type DemoMerchant = z.infer<typeof demoSchema>;
type OldDemoMerchant = z.infer<typeof oldDemoSchema>;

/** A demo merchant of an earlier start, and the expiry of its key; null: never. */
type StoredDemo = { readonly demo: OldDemoMerchant; readonly keyExpiresAt: Date | null };

/** A start may run for weeks: a key with a shorter life is replaced. */
const LEAST_KEY_LIFE_MS = 60 * 24 * 60 * 60_000;

export type SeedOptions = {
  readonly db: Database;
  readonly profile: Pick<DemoProfile, 'merchantName' | 'currency'>;
  readonly file: string;
  readonly webhookUrl: string;
  readonly keyRing: KeyRing;
};

/** The demo merchant with people, a valid key and an endpoint at `webhookUrl`; an earlier one is completed. */
export async function seedDemoMerchant(options: SeedOptions): Promise<DemoMerchant> {
  const stored = await readStored(options);
  const complete = stored ? await withLastingKey(stored, options) : await createDemo(options);
  const demo = complete.webhookUrl === options.webhookUrl ? complete : await moveEndpoint(complete, options);
  if (demo !== stored?.demo) writePrivateFile(options.file, `${JSON.stringify(demo, null, 2)}\n`);
  return demo;
}

/** The merchant's settings in demo.env. */
export function merchantSettings(demo: DemoMerchant, prefix: string, inboxUrl: string): Record<string, string> {
  return {
    [`${prefix}API_KEY`]: demo.apiKey,
    [`${prefix}WEBHOOK_SECRET`]: demo.webhookSecret,
    [`${prefix}WEBHOOK_INBOX_URL`]: inboxUrl,
    ...peopleSettings(demo.people, prefix),
  };
}

async function readStored({ db, file }: SeedOptions): Promise<StoredDemo | null> {
  const remedy =
    'It holds the keys and log-ins of the demo merchant. Put a copy of it back, or remove it: the next start then creates ' +
    'another demo merchant.';
  const demo = readJsonFile(file, oldDemoSchema, remedy);
  if (demo === undefined) return null;
  const at = new Date();
  const request = { text: demo.apiKey, environment: 'test', scope: null, action: 'npm start', at } as const;
  try {
    const { expiresAt } = await authenticateApiKey(db, { ...request, address: null, requestId: null });
    return { demo, keyExpiresAt: expiresAt };
  } catch (error) {
    if (error instanceof DomainError && error.code === 'api_key_expired') return { demo, keyExpiresAt: at };
    // The database may have been removed after the file was written.
    return null;
  }
}

async function createDemo(options: SeedOptions): Promise<DemoMerchant> {
  const { db, profile, webhookUrl, keyRing } = options;
  const { merchantName, currency } = profile;
  const merchantId = await createMerchant(db, { name: merchantName, currency, at: new Date() });
  const { people, makerId } = await addDemoPeople(db, merchantId, keyRing);
  const apiKey = await createKey(db, merchantId, makerId);
  const { secret } = await register(merchantId, options);
  return { merchantId, apiKey, webhookUrl, webhookSecret: secret, people };
}

async function withLastingKey({ demo, keyExpiresAt }: StoredDemo, options: SeedOptions): Promise<DemoMerchant> {
  const complete = await withPeople(demo, options);
  const isLasting = keyExpiresAt === null || keyExpiresAt.getTime() - Date.now() >= LEAST_KEY_LIFE_MS;
  if (isLasting || complete.apiKey !== demo.apiKey) return complete;
  const { db } = options;
  const merchantId = demo.merchantId as MerchantId;
  const members = await listMembers(db, merchantId, new Date());
  const maker = members.find(({ member: { email } }) => email === complete.people.maker.email);
  // Somebody removed the demo's maker: without one, a key creates no payouts.
  if (!maker) return createDemo(options);
  return { ...complete, apiKey: await createKey(db, merchantId, maker.member.userId) };
}

// The older key has no maker, so it cannot create payouts. A new key replaces it here; the older one stays valid.
async function withPeople(stored: OldDemoMerchant, { db, keyRing }: SeedOptions): Promise<DemoMerchant> {
  const { people } = stored;
  // The same object shows the caller that nothing was added.
  if (people) return stored as DemoMerchant;
  const merchantId = stored.merchantId as MerchantId;
  const added = await addDemoPeople(db, merchantId, keyRing);
  return { ...stored, apiKey: await createKey(db, merchantId, added.makerId), people: added.people };
}

async function createKey(db: Database, merchantId: MerchantId, createdBy: UserId): Promise<string> {
  const at = new Date();
  const { key } = await createApiKey(db, {
    merchantId,
    name: 'Demo key',
    environment: 'test',
    scopes: SCOPES,
    expiresAt: new Date(at.getTime() + MAX_PAYOUT_KEY_LIFE_MS),
    createdBy,
    by: null,
    at,
  });
  return key;
}

// The receiver has another port this time; an endpoint at the old address would only collect failed deliveries.
async function moveEndpoint(stored: DemoMerchant, options: SeedOptions): Promise<DemoMerchant> {
  const merchantId = stored.merchantId as MerchantId;
  const { items } = await listEndpoints(options.db, merchantId, null, MAX_ENDPOINTS_PER_MERCHANT);
  for (const { id, url } of items) {
    // Endpoints that people registered themselves stay unchanged.
    if (url === stored.webhookUrl) await deleteEndpoint(options.db, { merchantId, id, by: null, at: new Date() });
  }
  const { secret } = await register(merchantId, options);
  return { ...stored, webhookUrl: options.webhookUrl, webhookSecret: secret };
}

function register(merchantId: MerchantId, { db, webhookUrl, keyRing }: SeedOptions) {
  return registerEndpoint(db, {
    merchantId,
    url: webhookUrl,
    description: 'Demo receiver',
    eventTypes: null,
    keyRing,
    at: new Date(),
  });
}
