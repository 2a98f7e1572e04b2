// The merchants of a campaign: each with an API key, a maker, two approvers, and endpoints at the receiver.
import { SCOPES } from '../src/domain/accounts/api-key.ts';
import type { Role } from '../src/domain/accounts/member.ts';
import { DEFAULT_POLICY } from '../src/domain/accounts/policy.ts';
import type { MerchantId, UserId } from '../src/domain/ids.ts';
import { createApiKey } from '../src/operations/accounts/create-api-key.ts';
import { createMerchant } from '../src/operations/accounts/create-merchant.ts';
import { enrolMember } from '../src/operations/accounts/enrol-member.ts';
import { registerEndpoint } from '../src/operations/webhooks/register-endpoint.ts';
import { hashPassword } from '../src/security/password.ts';
import { createRowAttestor } from '../src/security/row-attestation.ts';
import type { KeyRing } from '../src/security/sealing.ts';
import { generateTotpSecret } from '../src/security/totp.ts';
import { putPolicy } from '../src/db/accounts/policy.ts';
import { openDatabase, type Database } from '../src/db/platform/database.ts';
import type { Endpoint } from './checker/evidence.ts';
import { CURRENCIES } from './wires.ts';

export type Person = { readonly id: UserId; readonly email: string; readonly totpSecret: string };
export type Merchant = {
  readonly id: MerchantId;
  readonly currency: (typeof CURRENCIES)[number];
  readonly apiKey: string;
  readonly owner: Person;
  readonly maker: Person;
  readonly approvers: readonly [Person, Person];
  readonly endpoints: readonly Endpoint[];
};

export const PASSWORD = 'correct horse battery staple';

/** The first merchant requires two approvers above this amount, and has two endpoints. */
const TWO_APPROVERS_ABOVE = 4000n;

type SeedOptions = {
  readonly url: string;
  readonly receiverUrl: string;
  readonly keyRing: KeyRing;
  readonly attestationKeys: KeyRing;
};

/** So many merchants, each with the currency of its place. */
export async function seedMerchants(count: number, options: SeedOptions): Promise<Merchant[]> {
  const { url, receiverUrl, keyRing, attestationKeys } = options;
  const db = openDatabase({
    url,
    poolSize: 2,
    statementTimeoutMs: 10_000,
    connectTimeoutMs: 10_000,
    onIdleError: () => undefined,
    attestor: createRowAttestor({ environment: 'test', keyRing: attestationKeys, report: () => undefined }),
  });
  try {
    const passwordHash = await hashPassword(PASSWORD);
    const merchants: Merchant[] = [];
    for (const [index, currency] of CURRENCIES.slice(0, count).entries()) {
      merchants.push(await seedMerchant(db, { index, currency, receiverUrl, keyRing, passwordHash }));
    }
    return merchants;
  } finally {
    await db.close();
  }
}

type MerchantOptions = Omit<SeedOptions, 'url' | 'attestationKeys'> & {
  readonly index: number;
  readonly currency: Merchant['currency'];
  readonly passwordHash: string;
};

async function seedMerchant(db: Database, options: MerchantOptions): Promise<Merchant> {
  const { index, currency, receiverUrl, keyRing, passwordHash } = options;
  const at = new Date();
  const id = await createMerchant(db, { name: `Chaos merchant ${index}`, currency, at });
  const enrol = async (name: string, roles: readonly Role[]): Promise<Person> => {
    const email = `${name}.${index}@chaos.example`;
    const totpSecret = generateTotpSecret();
    const member = { merchantId: id, email, name, passwordHash, roles, totpSecret, keyRing, at };
    return { id: await enrolMember(db, member), email, totpSecret };
  };
  const owner = await enrol('owner', ['owner']);
  const maker = await enrol('maker', ['maker', 'developer']);
  const approvers = [await enrol('approver-a', ['approver']), await enrol('approver-b', ['approver'])] as const;
  const { key: apiKey } = await createApiKey(db, {
    merchantId: id,
    name: 'chaos',
    environment: 'test',
    scopes: SCOPES,
    expiresAt: null,
    createdBy: maker.id,
    by: null,
    at,
  });
  const paths = index === 0 ? ['first', 'second'] : ['first'];
  const endpoints: Endpoint[] = [];
  for (const name of paths) {
    const path = `/${index}/${name}`;
    const endpoint = { merchantId: id, url: `${receiverUrl}${path}`, description: null, eventTypes: null, keyRing, at };
    const registered = await registerEndpoint(db, endpoint);
    endpoints.push({ id: registered.id, merchantId: id, path, secret: registered.secret });
  }
  if (index === 0) {
    const policy = { ...DEFAULT_POLICY, twoApproversAboveMinor: TWO_APPROVERS_ABOVE };
    await db.withTransaction((tx) => putPolicy(tx, id, policy, at));
  }
  return { id, currency, apiKey, owner, maker, approvers, endpoints };
}
