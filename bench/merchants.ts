// The merchants of benchmarks, with their API keys, makers and endpoints.
import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import type { Database } from '../src/db/platform/database.ts';
import { SCOPES } from '../src/domain/accounts/api-key.ts';
import type { EndpointId, MerchantId } from '../src/domain/ids.ts';
import { createApiKey, type CreateApiKey } from '../src/operations/accounts/create-api-key.ts';
import { createMerchant } from '../src/operations/accounts/create-merchant.ts';
import { enrolMember } from '../src/operations/accounts/enrol-member.ts';
import { registerEndpoint, type RegisterEndpoint } from '../src/operations/webhooks/register-endpoint.ts';
import type { KeyRing } from '../src/security/sealing.ts';
import type { BacklogTarget } from './backlog.ts';

type KeyedMerchant = { readonly merchantId: MerchantId; readonly apiKey: string };

/** Of people who never log in. */
export const UNUSED_PASSWORD_HASH = '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA';

export function newMerchant(db: Database, name = 'Bench'): Promise<MerchantId> {
  return createMerchant(db, { name, currency: 'UGX', at: new Date() });
}

/** A merchant whose API key may do everything but create payouts, because no person has made it. */
export async function addMerchant(db: Database): Promise<KeyedMerchant> {
  const merchantId = await newMerchant(db);
  const scopes = SCOPES.filter((scope) => scope !== 'payouts:write');
  return { merchantId, apiKey: await addApiKey(db, { merchantId, scopes, createdBy: null }) };
}

/** A merchant with more money than a benchmark pays out, whose API key a maker has made. */
export async function addPayoutMerchant(db: Database): Promise<KeyedMerchant> {
  const merchantId = await newMerchant(db);
  const createdBy = await enrolMember(db, {
    ...{ merchantId, email: `${randomUUID()}@bench.example`, name: 'Maker', roles: ['maker'] },
    ...{ passwordHash: UNUSED_PASSWORD_HASH, totpSecret: null, at: new Date() },
    keyRing: [{ name: 'bench', key: createSecretKey(randomBytes(32)) }],
  });
  const apiKey = await addApiKey(db, { merchantId, scopes: ['payouts:write'], createdBy });
  await db.pool.query(
    `SET session_replication_role = replica;
     UPDATE ledger_accounts SET balance_minor = 1e15 WHERE id = '${merchantId}/available';
     RESET session_replication_role`,
  );
  return { merchantId, apiKey };
}

export async function addApiKey(
  db: Database,
  key: Pick<CreateApiKey, 'merchantId' | 'scopes' | 'createdBy'>,
): Promise<string> {
  const lasting = { name: 'bench', environment: 'test', by: null, expiresAt: null, at: new Date() } as const;
  return (await createApiKey(db, { ...lasting, ...key })).key;
}

/** An endpoint for events of every type. */
export async function addEndpoint(
  db: Database,
  endpoint: Pick<RegisterEndpoint, 'merchantId' | 'url' | 'keyRing'>,
): Promise<EndpointId> {
  return (await registerEndpoint(db, { ...endpoint, description: null, eventTypes: null, at: new Date() })).id;
}

/** For each of the addresses a merchant with one endpoint. */
export async function addReceivers(db: Database, urls: readonly string[], keyRing: KeyRing): Promise<BacklogTarget[]> {
  const receivers: BacklogTarget[] = [];
  for (const url of urls) {
    const merchantId = await newMerchant(db);
    receivers.push({ merchantId, endpointId: await addEndpoint(db, { merchantId, url, keyRing }) });
  }
  return receivers;
}
