// The sandbox operator's configuration and its defaults.

export type SandboxCredentials = {
  readonly subscriptionKey: string;
  readonly apiUser: string;
  readonly apiKey: string;
};

export type SandboxAirtel = {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Of the wallet from which payouts are paid. */
  readonly pin: string;
  /** Airtel is told it once, in its portal, and not with each request; without it nobody is called back. */
  readonly callbackUrl?: string;
};

export type SandboxDaraja = {
  readonly consumerKey: string;
  readonly consumerSecret: string;
  /** To which customers pay. */
  readonly shortcode: string;
  readonly passkey: string;
  /** From which payouts are paid. */
  readonly payoutShortcode: string;
  readonly initiatorName: string;
  readonly initiatorPassword: string;
  /** As PEM; its certificate is at `/sandbox/daraja/certificate`. Without it there is another key after each start. */
  readonly privateKey?: string;
};

export type SandboxTimes = {
  /** From accepting a request to its decision. */
  readonly decisionMs: number;
  /** How long a prompt stays pending at the operator without the payer's answer. */
  readonly promptExpiryMs: number;
  /** After what time a late payment is paid: longer than clients wait for a prompt. */
  readonly undecidedMs: number;
  /** From a payment's decision to its return by the provider, in the rows with a return. */
  readonly reversalMs: number;
  readonly tokenLifeMs: number;
  readonly airtelTokenLifeMs: number;
  readonly darajaTokenLifeMs: number;
  /** From a request that Daraja answers later to its answer. */
  readonly darajaResultMs: number;
  readonly callbackTimeoutMs: number;
};

type SandboxLimits = {
  readonly bodyBytes: number;
  readonly connections: number;
  readonly tokens: number;
  /** The oldest is forgotten first, decided or not: its status is a 404 then. */
  readonly transactions: number;
  readonly transactionAgeMs: number;
  /** When the journal has grown by this much, it is rewritten with the transactions that are still kept. */
  readonly journalGrowthBytes: number;
  /** Maximum of concurrent callbacks. Further ones are not sent, as with an overloaded operator. */
  readonly callbacks: number;
  readonly callbackConnections: number;
  /** Of a page of Daraja's Pull. */
  readonly pullRows: number;
};

export type SandboxConfig = {
  /** 127.0.0.1 by default, because the inspection pages need no password. */
  readonly host?: string;
  readonly port: number;
  readonly collection: SandboxCredentials;
  readonly disbursement: SandboxCredentials;
  /** Without it, there is no API of Airtel. */
  readonly airtel?: SandboxAirtel;
  /** Without it, there is no API of Safaricom. */
  readonly daraja?: SandboxDaraja;
  /** The required value of X-Target-Environment. */
  readonly targetEnvironment: string;
  /** The first is the currency of the account. */
  readonly currencies?: readonly string[];
  /** The account's balance before the first collection, in whole units of each currency. Payouts are paid from it. */
  readonly startingFloat?: number;
  /** Hosts that X-Callback-Url may name, as registered with the operator; any host when absent. */
  readonly callbackHosts?: readonly string[];
  readonly callbackMethod?: 'POST' | 'PUT';
  /** Journal of all transactions, in an existing folder; without it they are kept in memory only. */
  readonly dataFile?: string;
  readonly times?: Partial<SandboxTimes>;
  readonly limits?: Partial<SandboxLimits>;
  /** Of every response; a page sets a policy of its own. The caller gives them, as it shares no code with the service. */
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
