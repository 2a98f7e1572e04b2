// Starts the sandbox operator from its configuration: state, decisions and HTTP server.
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { createCallbackSender } from './callback-sender.ts';
import { createDecisions } from './decisions.ts';
import { createFaultSwitches } from './fault-switches.ts';
import { createInspectionRouter } from './inspection-routes.ts';
import { createAirtelRouter } from './airtel-routes.ts';
import { createDarajaCommands, type DarajaCommands } from './daraja-commands.ts';
import { createDarajaRouter } from './daraja-routes.ts';
import { createMtnRouter } from './mtn-routes.ts';
import { createPaymentIntake } from './payment-intake.ts';
import { createPersonRouter } from './person-routes.ts';
import { withDefaults, type SandboxConfig, type SandboxSettings } from './sandbox-config.ts';
import { openTransactionStore, type TransactionStore } from './transaction-store.ts';

export type Sandbox = {
  /** Without a trailing slash. */
  readonly url: string;
  /** Cuts open requests. The next start with the same `dataFile` continues with the pending payments. */
  stop(): Promise<void>;
};

const REQUEST_TIMEOUT_MS = 10_000;
/** Longer than clients keep an idle connection, so that clients close it first and never send on a closing connection. */
const KEEP_ALIVE_MS = 60_000;

/** Resolves when it is listening. Rejects when the port is taken or the data file cannot be opened. */
export async function startSandbox(config: SandboxConfig): Promise<Sandbox> {
  const settings = withDefaults(config);
  let handle: RequestListener = (_request, response) => {
    response.writeHead(503).end();
  };
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS }, (req, res) => {
    handle(req, res);
  });
  server.maxConnections = settings.limits.connections;
  // Listens first: an accidental second start must fail before it touches the journal of the first.
  const port = await listen(server, settings);
  let store: TransactionStore;
  try {
    store = await openTransactionStore(settings);
  } catch (error) {
    await closeServer(server);
    throw error;
  }
  const parts = assemble(settings, store);
  const serve = parts.app.callback();
  handle = (req, res) => {
    void serve(req, res);
  };
  parts.decisions.resume();

  async function stop(): Promise<void> {
    parts.faults.stop();
    await Promise.all([closeServer(server), parts.callbacks.close(), parts.decisions.stop(), parts.commands?.stop()]);
    await store.close();
  }

  let stopping: Promise<void> | null = null;
  return {
    url: `http://${settings.host.includes(':') ? `[${settings.host}]` : settings.host}:${port}`,
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

function assemble(settings: SandboxSettings, store: TransactionStore) {
  const callbacks = createCallbackSender(settings);
  const faults = createFaultSwitches();
  const decisions = createDecisions({ settings, store, callbacks, isFloatLow: () => faults.get().floatLow });
  const intake = createPaymentIntake({ settings, store, decisions });
  const app = new Koa();
  // Koa also reports client errors and aborted requests here; only the rest are errors of the sandbox.
  app.on('error', (error: Error & { status?: number }) => {
    if ((error.status ?? 500) >= 500) settings.onError(error);
  });
  app.use(async (ctx, next) => {
    ctx.set({ ...settings.responseHeaders });
    try {
      await next();
    } catch (error) {
      // Koa removes all headers from the response to an error except the error's own.
      if (error instanceof Error) Object.assign(error, { headers: settings.responseHeaders });
      throw error;
    }
  });
  app.use(createMtnRouter({ settings, store, intake, faults: faults.middleware }).routes());
  const { airtel, daraja } = settings;
  if (airtel !== null) {
    app.use(createAirtelRouter({ settings, airtel, store, intake, faults: faults.middleware }).routes());
  }
  let commands: DarajaCommands | undefined;
  if (daraja !== null) {
    commands = createDarajaCommands({ settings, daraja, store, callbacks });
    const { middleware } = faults;
    app.use(createDarajaRouter({ settings, daraja, store, intake, commands, faults: middleware }).routes());
  }
  app.use(createPersonRouter({ settings, store, decisions }).routes());
  app.use(createInspectionRouter({ settings, store, faults }).routes());
  return { app, callbacks, commands, decisions, faults };
}

async function listen(server: Server, { host, port, onError }: SandboxSettings): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      // Without a listener, a connection that cannot be accepted would end the process.
      server.on('error', onError);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}

async function closeServer(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });
}
