// The callers and objects of generated requests: Schemathesis asks here before each request, over loopback.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { findSession } from '../src/db/accounts/session.ts';
import type { Database } from '../src/db/platform/database.ts';
import { isFreshlyVerified, type Role } from '../src/domain/accounts/member.ts';
import { continueReplay } from '../src/operations/webhooks/replay-deliveries.ts';
import { hashToken } from '../src/security/token.ts';
import { callerOptions, roleFor, sampleOf } from '../test/isolation/samples.ts';
import { OPERATIONS } from '../test/isolation/access.ts';
import type { ConsoleSession, IsolationEnvironment, Shop } from '../test/isolation/tenants.ts';

/** A merchant may have a limited number of keys, endpoints, members and invitations: another one takes over earlier. */
const REQUESTS_PER_SHOP = 40;
const REPLAYED_AT_ONCE = 1000;
/** A verification is fresh for five minutes. */
const FRESH_MS = 60_000;

type Prepared = {
  readonly key: string;
  readonly session: string;
  readonly origin: string;
  /** The id for the path, and an acceptable body. */
  readonly id?: string;
  readonly json?: Readonly<Record<string, unknown>>;
};

/**
 * Starts to listen, and resolves with the address. Each answer is for the next request of the named operation: its
 * credentials are valid and its object exists, whatever earlier requests ended, removed or used up.
 */
export async function startCallers(isolation: IsolationEnvironment): Promise<{ url: string; stop: () => void }> {
  const prepare = preparer(isolation);
  const server = createServer((request, response) => {
    void answer(request, prepare).then(
      (prepared) => response.end(JSON.stringify(prepared)),
      (error: unknown) => {
        response.statusCode = 500;
        response.end(String(error));
      },
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(
  request: IncomingMessage,
  prepare: (operationId: string) => Promise<Prepared>,
): Promise<Prepared> {
  const { operationId } = JSON.parse(await text(request)) as { operationId: string };
  return prepare(operationId);
}

function preparer(isolation: IsolationEnvironment): (operationId: string) => Promise<Prepared> {
  const { testEnv, addShop, logInAs } = isolation;
  const sessions = new Map<string, ConsoleSession>();
  let shop: Shop | null = null;
  let requests = 0;

  // A request may have changed the person or their session: another person replaces them.
  const usableSession = async (at: Shop, operationId: string): Promise<ConsoleSession> => {
    const [role, options] = [roleFor(operationId), callerOptions(operationId)];
    const kind = JSON.stringify([role, options]);
    const known = sessions.get(kind);
    if (known && (await isUsable(testEnv.db, known, role))) return known;
    const session = await logInAs(at, role, options);
    sessions.set(kind, session);
    return session;
  };

  const openShop = async (): Promise<Shop> => {
    sessions.clear();
    return addShop();
  };

  const prepareAt = async (at: Shop, operationId: string): Promise<Prepared> => {
    const { person, cookie } = await usableSession(at, operationId);
    const sample = operationId in OPERATIONS ? await sampleOf(operationId, { testEnv, shop: at, person }) : {};
    return { key: at.merchant.key, session: tokenIn(cookie), origin: testEnv.baseUrl, ...sample };
  };

  return async (operationId) => {
    // Otherwise wrong passwords alone would decide the result after the first fifty.
    await testEnv.db.pool.query('DELETE FROM attempt_counters');
    // As a dispatcher does: the number of running replays is limited.
    while ((await continueReplay(testEnv.db, REPLAYED_AT_ONCE, new Date())) !== null);
    if (shop === null || requests++ % REQUESTS_PER_SHOP === 0) shop = await openShop();
    try {
      return await prepareAt(shop, operationId);
    } catch {
      // A request may have removed the person who creates the sample. A failure in a new shop too fails the run.
      shop = await openShop();
      return prepareAt(shop, operationId);
    }
  };
}

async function isUsable(
  db: Database,
  { cookie, person: { totpSecret } }: ConsoleSession,
  role: Role,
): Promise<boolean> {
  const session = await findSession(db, hashToken(tokenIn(cookie)) ?? Buffer.alloc(0), new Date());
  if (session === null) return false;
  const { roles, hasSecondFactor } = session.person;
  const isAsBefore = roles.includes(role) && hasSecondFactor === (totpSecret !== null);
  return isAsBefore && isFreshlyVerified(session.person, new Date(Date.now() + FRESH_MS));
}

function tokenIn(cookie: string): string {
  return cookie.slice(cookie.indexOf('=') + 1);
}
