// The demo merchant of the embedded start: made once, kept in a file that only this user can read.
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Database } from '../db/database.ts';
import { SCOPES } from '../domain/api-key.ts';
import type { MerchantId } from '../domain/ids.ts';
import type { KeyRing } from '../domain/secret-box.ts';
import { authenticateApiKey } from '../operations/authenticate-api-key.ts';
import { createApiKey } from '../operations/create-api-key.ts';
import { createMerchant } from '../operations/create-merchant.ts';
import { registerEndpoint } from '../operations/register-endpoint.ts';
import { retireEndpoints } from '../operations/retire-endpoints.ts';
import { writePrivateFile } from './private-file.ts';

const demoSchema = z.object({
  merchantId: z.string(),
  apiKey: z.string(),
  webhookUrl: z.string(),
  webhookSecret: z.string(),
});

export type DemoMerchant = z.infer<typeof demoSchema>;

export type SeedOptions = {
  readonly db: Database;
  readonly file: string;
  readonly webhookUrl: string;
  readonly keyRing: KeyRing;
};

/** The demo merchant with a key that works and an endpoint at `webhookUrl`; that of an earlier start when it is there. */
export async function seedDemoMerchant(options: SeedOptions): Promise<DemoMerchant> {
  const known = await readKnown(options);
  if (known?.webhookUrl === options.webhookUrl) return known;
  const demo = known ? await moveEndpoint(known, options) : await createDemo(options);
  writePrivateFile(options.file, `${JSON.stringify(demo, null, 2)}\n`);
  return demo;
}

async function readKnown({ db, file }: SeedOptions): Promise<DemoMerchant | null> {
  if (!existsSync(file)) return null;
  const demo = demoSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  // The file may be older than the database, which somebody removed.
  const isValid = await authenticateApiKey(db, demo.apiKey, 'test', new Date()).then(
    () => true,
    () => false,
  );
  return isValid ? demo : null;
}

async function createDemo({ db, webhookUrl, keyRing }: SeedOptions): Promise<DemoMerchant> {
  const at = new Date();
  const merchantId = await createMerchant(db, { name: 'Demo merchant', currency: 'UGX', at });
  const { key } = await createApiKey(db, {
    merchantId,
    name: 'Demo key',
    environment: 'test',
    scopes: SCOPES,
    expiresAt: null,
    at,
  });
  const { secret } = await register(merchantId, { db, webhookUrl, keyRing });
  return { merchantId, apiKey: key, webhookUrl, webhookSecret: secret };
}

// The receiver's port was taken this time: the old address would only collect failures.
async function moveEndpoint(known: DemoMerchant, options: SeedOptions): Promise<DemoMerchant> {
  const merchantId = known.merchantId as MerchantId;
  await retireEndpoints(options.db, merchantId, 'the demo receiver moved to another port');
  const { secret } = await register(merchantId, options);
  return { ...known, webhookUrl: options.webhookUrl, webhookSecret: secret };
}

function register(merchantId: MerchantId, { db, webhookUrl, keyRing }: Omit<SeedOptions, 'file'>) {
  return registerEndpoint(db, {
    merchantId,
    url: webhookUrl,
    description: 'Demo receiver',
    eventTypes: null,
    keyRing,
    at: new Date(),
  });
}
