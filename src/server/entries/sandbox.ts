// Entry: the sandbox operator, the stand-in for mobile-money operators in the test environment.
import { securityHeaders } from '../../api/security-headers.ts';
import { loadSandboxSettings } from '../../settings/config.ts';
import type { SandboxProcessSettings } from '../../settings/sandbox.ts';
import { createLog } from '../../log.ts';
import type { SandboxConfig, SandboxDaraja } from '../../sandbox/sandbox-config.ts';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import { runProcess } from '../run-process.ts';

await runProcess('sandbox', async () => {
  const settings = loadSandboxSettings(process.env);
  const log = createLog({ level: 'info', process: 'sandbox' });
  const sandbox = await startSandbox({
    host: settings.MALIPO_SANDBOX_HOST,
    port: settings.MALIPO_SANDBOX_PORT,
    targetEnvironment: 'sandbox',
    collection: {
      subscriptionKey: settings.MALIPO_SANDBOX_MTN_COLLECTION_SUBSCRIPTION_KEY.reveal(),
      apiUser: settings.MALIPO_SANDBOX_MTN_COLLECTION_API_USER,
      apiKey: settings.MALIPO_SANDBOX_MTN_COLLECTION_API_KEY.reveal(),
    },
    disbursement: {
      subscriptionKey: settings.MALIPO_SANDBOX_MTN_DISBURSEMENT_SUBSCRIPTION_KEY.reveal(),
      apiUser: settings.MALIPO_SANDBOX_MTN_DISBURSEMENT_API_USER,
      apiKey: settings.MALIPO_SANDBOX_MTN_DISBURSEMENT_API_KEY.reveal(),
    },
    ...airtelIn(settings),
    ...darajaIn(settings),
    ...(settings.MALIPO_SANDBOX_DATA_FILE !== undefined && { dataFile: settings.MALIPO_SANDBOX_DATA_FILE }),
    times: {
      decisionMs: settings.MALIPO_SANDBOX_DECISION_MS,
      promptExpiryMs: settings.MALIPO_SANDBOX_PROMPT_EXPIRY_MS,
      undecidedMs: settings.MALIPO_SANDBOX_UNDECIDED_MS,
      reversalMs: settings.MALIPO_SANDBOX_REVERSAL_MS,
      airtelTokenLifeMs: settings.MALIPO_SANDBOX_AIRTEL_TOKEN_LIFE_MS,
      darajaTokenLifeMs: settings.MALIPO_SANDBOX_DARAJA_TOKEN_LIFE_MS,
    },
    startingFloat: settings.MALIPO_SANDBOX_STARTING_FLOAT,
    limits: { transactions: settings.MALIPO_SANDBOX_TRANSACTIONS },
    responseHeaders: securityHeaders(`http://localhost:${settings.MALIPO_SANDBOX_PORT}`),
    onError: (error) => {
      log.error({ error }, 'sandbox operation failed');
    },
  });
  log.info({ url: sandbox.url }, 'the sandbox operator is listening');
  return sandbox;
});

function airtelIn(settings: SandboxProcessSettings): Pick<SandboxConfig, 'airtel'> {
  const {
    MALIPO_SANDBOX_AIRTEL_CLIENT_ID: clientId,
    MALIPO_SANDBOX_AIRTEL_CLIENT_SECRET: clientSecret,
    MALIPO_SANDBOX_AIRTEL_PIN: pin,
    MALIPO_SANDBOX_AIRTEL_CALLBACK_URL: callbackUrl,
  } = settings;
  if (clientId === undefined || clientSecret === undefined || pin === undefined) return {};
  const secrets = { clientSecret: clientSecret.reveal(), pin: pin.reveal() };
  return { airtel: { clientId, ...secrets, ...(callbackUrl !== undefined && { callbackUrl }) } };
}

// The group is set whole or not at all.
function darajaIn(settings: SandboxProcessSettings): Partial<SandboxConfig> {
  const account = {
    consumerKey: settings.MALIPO_SANDBOX_DARAJA_CONSUMER_KEY,
    consumerSecret: settings.MALIPO_SANDBOX_DARAJA_CONSUMER_SECRET?.reveal(),
    shortcode: settings.MALIPO_SANDBOX_DARAJA_SHORTCODE,
    passkey: settings.MALIPO_SANDBOX_DARAJA_PASSKEY?.reveal(),
    payoutShortcode: settings.MALIPO_SANDBOX_DARAJA_PAYOUT_SHORTCODE,
    initiatorName: settings.MALIPO_SANDBOX_DARAJA_INITIATOR_NAME,
    initiatorPassword: settings.MALIPO_SANDBOX_DARAJA_INITIATOR_PASSWORD?.reveal(),
  };
  const privateKey = settings.MALIPO_SANDBOX_DARAJA_PRIVATE_KEY?.reveal();
  return isWhole(account) ? { daraja: { ...account, ...(privateKey !== undefined && { privateKey }) } } : {};
}

type DarajaAccount = Omit<SandboxDaraja, 'privateKey'>;

function isWhole(account: { readonly [Name in keyof DarajaAccount]: string | undefined }): account is DarajaAccount {
  return Object.values(account).every((value) => value !== undefined);
}
