// What the sandbox operator can be told, and what it assumes when it is told nothing.

export type SandboxCredentials = {
  readonly subscriptionKey: string;
  readonly apiUser: string;
  readonly apiKey: string;
};

export type SandboxTimes = {
  /** From taking a request to its ending. */
  readonly decisionMs: number;
  /** How long a prompt that nobody answers stays open at the operator. */
  readonly promptExpiryMs: number;
  /** How long a payment stays undecided that is paid late: longer than any client waits for its prompt. */
  readonly undecidedMs: number;
  /** From a payment's ending to the provider giving it back, where that happens. */
  readonly reversalMs: number;
  readonly tokenLifeMs: number;
  readonly callbackTimeoutMs: number;
};

type SandboxLimits = {
  readonly bodyBytes: number;
  readonly connections: number;
  readonly tokens: number;
  /** The oldest is forgotten first, decided or not: a status request for it then answers 404. */
  readonly transactions: number;
  readonly transactionAgeMs: number;
  /** The journal is rewritten, with what is still kept, when it has grown by this much. */
  readonly journalGrowthBytes: number;
  /** Under way at once; a callback over that number is not sent, as an overloaded operator would do. */
  readonly callbacks: number;
  readonly callbackConnections: number;
};

export type SandboxConfig = {
  /** 127.0.0.1 by default: the inspection pages ask for no password. */
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Each of MTN's products has its own. */
  readonly collection: SandboxCredentials;
  readonly disbursement: SandboxCredentials;
  /** What X-Target-Environment must say. */
  readonly targetEnvironment: string;
  /** The first is the currency of the account. */
  readonly currencies?: readonly string[];
  /** What is on the account before anything was collected, in whole units of each currency: payouts are paid from it. */
  readonly startingFloat?: number;
  /** Hosts that X-Callback-Url may name, as registered with the operator; any host when absent. */
  readonly callbackHosts?: readonly string[];
  readonly callbackMethod?: 'POST' | 'PUT';
  /** Journal of all transactions; without it they live in memory only. Its folder must exist. */
  readonly dataFile?: string;
  readonly times?: Partial<SandboxTimes>;
  readonly limits?: Partial<SandboxLimits>;
  /** Told of what the sandbox could not do: a journal that cannot be written, a bug. */
  readonly onError?: (error: unknown) => void;
};

export type SandboxSettings = Required<Omit<SandboxConfig, 'dataFile' | 'callbackHosts' | 'times' | 'limits'>> & {
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
    dataFile: config.dataFile ?? null,
    callbackHosts: config.callbackHosts === undefined ? null : new Set(config.callbackHosts),
    times: { ...DEFAULT_TIMES, ...config.times },
    limits: { ...DEFAULT_LIMITS, ...config.limits },
  };
}
