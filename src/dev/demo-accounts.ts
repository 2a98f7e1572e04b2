// The accounts with the sandbox operator in the demonstration, in benchmarks and in campaigns: two of the staff agree on each.
import { listOperatorAccounts } from '../db/accounts/operator-account.ts';
import { listStaff } from '../db/accounts/staff-member.ts';
import { openDatabase, type Database } from '../db/platform/database.ts';
import type { StaffMember } from '../domain/accounts/staff.ts';
import { newId } from '../domain/ids.ts';
import type { AccountTerms, Credentials } from '../domain/payments/operator-account.ts';
import type { OperatorId } from '../domain/payments/operator-catalogue.ts';
import { decideOnStaffProposal, proposeAsStaff } from '../operations/accounts/staff-proposals.ts';
import { sealAccount } from '../security/operator-credentials.ts';
import { createRowAttestor } from '../security/row-attestation.ts';
import type { KeyRing } from '../security/sealing.ts';
import { loadConfig } from '../settings/config.ts';
import { seedDemoStaff } from './demo-staff.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export type DemoAccount = { readonly terms: Omit<AccountTerms, 'currency'>; readonly credentials: Credentials };

const CALLS_PER_SECOND: Readonly<Record<OperatorId, number>> = { 'mtn-momo': 100, 'airtel-money': 100, daraja: 20 };

type SandboxPlace = {
  /** The settings of the sandbox process, which plays the operators. */
  readonly settings: Environment;
  readonly url: string;
  /** The public half of the key of its Daraja, as PEM; without it there is no account with M-Pesa. */
  readonly darajaCertificate?: string | undefined;
  /** Of every account; by default as the demonstration has it. */
  readonly callsPerSecond?: number | undefined;
};

/** The accounts with a sandbox operator of these settings: MTN in each market, Airtel in Uganda, M-Pesa in Kenya. */
export function sandboxAccounts({ settings, url, darajaCertificate, callsPerSecond }: SandboxPlace): DemoAccount[] {
  const value = (name: string) => settings[`MALIPO_SANDBOX_${name}`] ?? '';
  const account = (operator: OperatorId, country: string | null, credentials: Credentials): DemoAccount => ({
    terms: { operator, country, baseUrl: url, callsPerSecond: callsPerSecond ?? CALLS_PER_SECOND[operator] },
    credentials,
  });
  const mtn = account('mtn-momo', null, {
    collectionSubscriptionKey: value('MTN_COLLECTION_SUBSCRIPTION_KEY'),
    collectionApiUser: value('MTN_COLLECTION_API_USER'),
    collectionApiKey: value('MTN_COLLECTION_API_KEY'),
    disbursementSubscriptionKey: value('MTN_DISBURSEMENT_SUBSCRIPTION_KEY'),
    disbursementApiUser: value('MTN_DISBURSEMENT_API_USER'),
    disbursementApiKey: value('MTN_DISBURSEMENT_API_KEY'),
  });
  const airtel = account('airtel-money', 'UG', {
    clientId: value('AIRTEL_CLIENT_ID'),
    clientSecret: value('AIRTEL_CLIENT_SECRET'),
    pin: value('AIRTEL_PIN'),
  });
  if (darajaCertificate === undefined) return [mtn, airtel];
  const daraja = account('daraja', 'KE', {
    consumerKey: value('DARAJA_CONSUMER_KEY'),
    consumerSecret: value('DARAJA_CONSUMER_SECRET'),
    shortcode: value('DARAJA_SHORTCODE'),
    passkey: value('DARAJA_PASSKEY'),
    payoutShortcode: value('DARAJA_PAYOUT_SHORTCODE'),
    initiatorName: value('DARAJA_INITIATOR_NAME'),
    initiatorPassword: value('DARAJA_INITIATOR_PASSWORD'),
    certificate: darajaCertificate,
  });
  return [mtn, airtel, daraja];
}

type SeedAccounts = {
  readonly accounts: readonly DemoAccount[];
  readonly keyRing: KeyRing;
  /** Our address for callbacks. */
  readonly callbackUrl: string;
  /** Two of the staff; by default the first two. */
  readonly staff?: readonly [StaffMember, StaffMember];
};

/** Makes these accounts, and gives an account of an earlier start the address and the credentials. Test environment only. */
export async function seedAccounts(
  db: Database,
  { accounts, keyRing, callbackUrl, staff }: SeedAccounts,
): Promise<void> {
  const [by, confirmer] = staff ?? (await firstTwo(db));
  const existing = new Map((await listOperatorAccounts(db)).map((account) => [account.operator, account]));
  for (const { terms, credentials } of accounts) {
    const found = existing.get(terms.operator);
    // The sandbox keeps its credentials, and may have another port at each start.
    if (found?.baseUrl === terms.baseUrl && found.state === 'active') continue;
    const at = new Date();
    const id = found?.id ?? newId('opa', at.getTime());
    const payload = sealAccount({ id, terms, credentials, keyRing, deployment: { environment: 'test', callbackUrl } });
    const kind = found === undefined ? 'operator_account_addition' : 'operator_account_rotation';
    const made = await proposeAsStaff(db, { proposed: { kind, payload }, by, at });
    await decideOnStaffProposal(db, { id: made.id, decision: 'confirmed', by: confirmer, at: new Date() });
  }
}

async function firstTwo(db: Database): Promise<readonly [StaffMember, StaffMember]> {
  const [one, other] = await listStaff(db);
  if (one === undefined || other === undefined) throw new Error('there is no staff, which two of make an account');
  return [one, other];
}

const TIMEOUT_MS = 10_000;

/** For a service with these settings, prepared and without staff: makes the staff, whose log-ins the file keeps, and the accounts. */
export async function seedStaffAndAccounts(
  environment: Environment,
  staffFile: string,
  place: Omit<SandboxPlace, 'settings'>,
): Promise<void> {
  const { settings } = loadConfig(environment);
  if (settings.MALIPO_OPERATOR_KEYS === undefined) throw new Error('MALIPO_OPERATOR_KEYS is not set');
  const db = openDatabase({
    url: settings.MALIPO_DATABASE_URL.reveal(),
    poolSize: 1,
    statementTimeoutMs: TIMEOUT_MS,
    connectTimeoutMs: TIMEOUT_MS,
    onIdleError: () => undefined,
    attestor: createRowAttestor({
      environment: 'test',
      keyRing: settings.MALIPO_ATTESTATION_KEYS,
      report: ({ table, key }) => process.stderr.write(`the row ${key} of ${table} is not as the service wrote it\n`),
    }),
  });
  try {
    await seedDemoStaff(db, staffFile, settings.MALIPO_SECRET_KEYS);
    const accounts = sandboxAccounts({ ...place, settings: environment });
    const callbackUrl = settings.MALIPO_CALLBACK_URL ?? settings.MALIPO_PUBLIC_URL;
    await seedAccounts(db, { accounts, keyRing: settings.MALIPO_OPERATOR_KEYS, callbackUrl });
  } finally {
    await db.close();
  }
}
