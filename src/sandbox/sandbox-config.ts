// The sandbox operator's configuration and its defaults.

export type SandboxCredentials = {
  readonly subscriptionKey: string;
  readonly apiUser: string;
  readonly apiKey: string;
};

export type SandboxAirtel = {
  readonly clientId: string;
  readonly clientSecret: string;
  /** The PIN of the wallet from which payouts are paid. */
  readonly pin: string;
  /** Airtel gets this address once, in its portal, and not with each request; without it no callbacks are sent. */
  readonly callbackUrl?: string;
};

export type SandboxDaraja = {
  readonly consumerKey: string;
  readonly consumerSecret: string;
  /** The shortcode to which customers pay. */
  readonly shortcode: string;
  readonly passkey: string;
  /** The shortcode from which payouts are paid. */
  readonly payoutShortcode: string;
  readonly initiatorName: string;
  readonly initiatorPassword: string;
  /** The key as PEM; its certificate is at `/sandbox/daraja/certificate`. If absent, each start makes another key. */
  readonly privateKey?: string;
};

export type SandboxTimes = {
  /** The time from accepting a request to its decision. */
  readonly decisionMs: number;
  /** How long a prompt stays pending at the operator without the payer's answer. */
  readonly promptExpiryMs: number;
  /** The time after which a late payment is paid: longer than clients wait for a prompt. */
  readonly undecidedMs: number;
  /** The time from a payment's decision to its return by the provider, in the rows with a return. */
  readonly reversalMs: number;
  readonly tokenLifeMs: number;
  readonly airtelTokenLifeMs: number;
  readonly darajaTokenLifeMs: number;
  /** The time from a request that Daraja answers later to its answer. */
  readonly darajaResultMs: number;
  readonly callbackTimeoutMs: number;
};

type SandboxLimits = {
  readonly bodyBytes: number;
  readonly connections: number;
  readonly tokens: number;
  /** Beyond this number the oldest transaction is forgotten, decided or not: its status is then a 404. */
  readonly transactions: number;
  readonly transactionAgeMs: number;
  /** When the journal has grown by this much, it is rewritten with the transactions that are still kept. */
  readonly journalGrowthBytes: number;
  /** Maximum of concurrent callbacks. Further ones are not sent, as with an overloaded operator. */
  readonly callbacks: number;
  readonly callbackConnections: number;
  /** The rows of a page of Daraja's Pull. */
  readonly pullRows: number;
};

export type SandboxConfig = {
  /** 127.0.0.1 by default, because the inspection pages need no password. */
  readonly host?: string;
  readonly port: number;
  readonly collection: SandboxCredentials;
  readonly disbursement: SandboxCredentials;
  /** If absent, there is no API of Airtel. */
  readonly airtel?: SandboxAirtel;
  /** If absent, there is no API of Safaricom. */
  readonly daraja?: SandboxDaraja;
  /** The required value of X-Target-Environment. */
  readonly targetEnvironment: string;
  /** The first currency is that of the account. */
  readonly currencies?: readonly string[];
  /** The account's balance before the first collection, in whole units of each currency. Payouts are paid from it. */
  readonly startingFloat?: number;
  /** Hosts that X-Callback-Url may name, as registered with the operator; any host if absent. */
  readonly callbackHosts?: readonly string[];
  readonly callbackMethod?: 'POST' | 'PUT';
  /** Journal of all transactions, in an existing folder; if absent, transactions are kept in memory only. */
  readonly dataFile?: string;
  readonly times?: Partial<SandboxTimes>;
  readonly limits?: Partial<SandboxLimits>;
  /** Headers of every response; a page sets its own policy. The caller gives them, because the sandbox shares no code with the service. */
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** Receives the sandbox's own errors: a journal that cannot be written, a bug. */
  readonly onError?: (error: unknown) => void;
};

export type SandboxSettings = Required<
  Omit<SandboxConfig, 'airtel' | 'daraja' | 'dataFile' | 'callbackHosts' | 'times' | 'limits'>
> & {
  readonly airtel: SandboxAirtel | null;
  readonly daraja: SandboxDaraja | null;
  readonly dataFile: string | null;
  readonly callbackHosts: ReadonlySet<string> | null;
  readonly times: SandboxTimes;
  readonly limits: SandboxLimits;
};

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const MIB = 1024 * 1024;

const DEFAULT_TIMES: SandboxTimes = {
  decisionMs: 1500,
  promptExpiryMs: 30_000,
  undecidedMs: 6 * MINUTE_MS,
  reversalMs: 3000,
  tokenLifeMs: 60 * MINUTE_MS,
  airtelTokenLifeMs: 3 * MINUTE_MS,
  darajaTokenLifeMs: 3_599_000,
  darajaResultMs: 500,
  callbackTimeoutMs: 5000,
};

const DEFAULT_LIMITS: SandboxLimits = {
  bodyBytes: 16 * 1024,
  connections: 1000,
  tokens: 1000,
  transactions: 50_000,
  transactionAgeMs: 7 * DAY_MS,
  journalGrowthBytes: 64 * MIB,
  callbacks: 1000,
  callbackConnections: 8,
  pullRows: 100,
};

const DEFAULT_STARTING_FLOAT = 1_000_000_000;

/** The currencies of MTN's markets, and the euro that MTN's own test environment uses. */
const DEFAULT_CURRENCIES = ['UGX', 'RWF', 'XAF', 'XOF', 'GHS', 'ZMW', 'EUR'];

export function withDefaults(config: SandboxConfig): SandboxSettings {
  return {
    host: '127.0.0.1',
    currencies: DEFAULT_CURRENCIES,
    startingFloat: DEFAULT_STARTING_FLOAT,
    callbackMethod: 'POST',
    onError: () => undefined,
    ...config,
    airtel: config.airtel ?? null,
    daraja: config.daraja ?? null,
    dataFile: config.dataFile ?? null,
    callbackHosts: config.callbackHosts === undefined ? null : new Set(config.callbackHosts),
    times: { ...DEFAULT_TIMES, ...config.times },
    limits: { ...DEFAULT_LIMITS, ...config.limits },
  };
}
