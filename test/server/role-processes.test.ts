// A server with a process per role: the settings of each, and the restart after one ends.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { loadConfig } from '../../src/settings/config.ts';
import { startChild, type SupervisedChild } from '../../src/engines/process/child-process.ts';
import { freePort, requireFreePort } from '../../src/engines/process/ports.ts';
import { environmentsByRole, hasProcessPerRole } from '../../src/server/role-processes.ts';
import { build, builtFile } from '../support/build.ts';
import { runFolder } from '../support/engines.ts';
import { assertLedgerIsSound, pay, untilState } from '../support/payments.ts';
import { untilAllReceived } from '../support/payment-events.ts';
import { scrape } from '../support/scrape.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { SOUND } from '../settings/sound-settings.ts';

type Process = { readonly pid: number; readonly role: string; readonly environment: string };

/** The running processes whose parent this one is, with the role that each was started with. */
function childrenOf(pid: number | undefined): Process[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const parent = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1];
      if (Number(parent) !== pid) return [];
      const environment = readFileSync(`/proc/${name}/environ`, 'utf8');
      return [{ pid: Number(name), role: /MALIPO_ROLES=([^\0]*)/.exec(environment)?.[1] ?? '', environment }];
    } catch {
      // It ended meanwhile, or is no process.
      return [];
    }
  });
}

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

describe('a server with a process for each role', () => {
  const testEnv = useTestEnvironment({ startsServer: false });
  let server: SupervisedChild | null = null;

  afterEach(async () => {
    await server?.stop();
    server = null;
  });

  async function start(metricsPort = 0): Promise<{ child: SupervisedChild; roles: Process[] }> {
    await build();
    server = await startChild({
      name: 'the server',
      entry: builtFile('dist/src/server/entries/server.js'),
      execArgv: [],
      env: { ...testEnv.environment, MALIPO_PROCESS_PER_ROLE: 'true', MALIPO_METRICS_PORT: String(metricsPort) },
      logFile: join(runFolder(), 'role-processes.log'),
      ready: 'message',
      stopLimitMs: 60_000,
    });
    return { child: server, roles: childrenOf(server.pid()) };
  }

  async function assertPays(): Promise<void> {
    const payment = await pay(testEnv, '000');
    await untilState(testEnv, payment, 'succeeded');
    await untilAllReceived(testEnv, payment);
  }

  it('pays, shows the metrics of each on a separate port, and has the keys of operators’ credentials only in the worker', async () => {
    const first = await freePort();
    const { roles } = await start(first);
    assert.deepEqual(roles.map(({ role }) => role).sort(), ['api', 'dispatcher', 'worker']);
    for (const { role, environment } of roles) {
      assert.equal(environment.includes('MALIPO_OPERATOR_KEYS='), role === 'worker', role);
    }
    await assertPays();
    for (const [index, role] of ['api', 'worker', 'dispatcher'].entries()) {
      assert.equal((await scrape(first + index)).valueOf('malipo_process_role', { role }), 1);
    }
    await assertLedgerIsSound(testEnv.db);
  });

  it('starts one that was killed again, and the others go on meanwhile', async () => {
    const { child, roles } = await start();
    for (const { pid } of roles) {
      process.kill(pid, 'SIGKILL');
      await eventually('another process in its place', () => {
        const now = childrenOf(child.pid());
        return now.length === roles.length && !now.some((each) => each.pid === pid);
      });
    }
    await eventually('the API to answer', async () => {
      const response = await fetch(`${testEnv.baseUrl}/readyz`).catch(() => null);
      return response?.ok === true;
    });
    await assertPays();
  });

  it('leaves none behind when it is stopped, or killed itself', async () => {
    const stopped = await start();
    await stopped.child.stop();
    assert.deepEqual(
      stopped.roles.filter(({ pid }) => isRunning(pid)),
      [],
    );
    const killed = await start();
    process.kill(killed.child.pid()!, 'SIGKILL');
    await eventually('all of them to end', () => !killed.roles.some(({ pid }) => isRunning(pid)));
  });

  it('leaves none behind either when it ends while they wait for the database', async () => {
    await build();
    for (const [signal, code] of [
      ['SIGTERM', 0],
      ['SIGKILL', null],
    ] as const) {
      const parent = fork(builtFile('dist/src/server/entries/server.js'), [], {
        execArgv: [],
        env: {
          ...testEnv.environment,
          MALIPO_PROCESS_PER_ROLE: 'true',
          MALIPO_DATABASE_URL: 'postgres://malipo_app:none@127.0.0.1:1/malipo',
        },
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
      await eventually('its processes', () => childrenOf(parent.pid).length === 3);
      const roles = childrenOf(parent.pid);
      const exited = once(parent, 'exit');
      parent.kill(signal);
      assert.equal((await exited)[0], code);
      await eventually('all of them to end', () => !roles.some(({ pid }) => isRunning(pid)));
    }
  });

  describe('of which one cannot start', () => {
    let taken: Server;
    before(async () => {
      // Only the port of the dispatcher is taken: those of the two other roles, below it, are free.
      for (let isApart = false; !isApart;) {
        taken = createServer().listen(await freePort(), '127.0.0.1');
        await once(taken, 'listening');
        const { port } = taken.address() as { port: number };
        isApart = await Promise.all([1, 2].map((below) => requireFreePort('a role', port - below, '127.0.0.1'))).then(
          () => true,
          () => false,
        );
        if (!isApart) taken.close();
      }
    });
    after(() => taken.close());

    it('does not start, and says why', async () => {
      const { port } = taken.address() as { port: number };
      await assert.rejects(start(port - 2), /EADDRINUSE[^]*the process of the role dispatcher did not start/);
    });
  });
});

describe('the processes of a server', () => {
  const configOf = (settings: Readonly<Record<string, string>>) => loadConfig({ ...SOUND, ...settings });

  it('are one for each role if that is set, and otherwise, or with one role, one for all', () => {
    const of = (roles: string, chosen: string) =>
      hasProcessPerRole(configOf({ MALIPO_ROLES: roles, MALIPO_PROCESS_PER_ROLE: chosen }));
    assert.deepEqual(
      [of('api,dispatcher', 'true'), of('api,dispatcher', 'false'), of('api', 'true')],
      [true, false, false],
    );
  });

  it('have no keys of operators’ credentials but the worker, also not from a file', () => {
    const environment = { ...SOUND, MALIPO_OPERATOR_KEYS_FILE: '/run/secrets/key', OTHER: 'kept' };
    const environments = environmentsByRole(configOf({ MALIPO_METRICS_PORT: '9464' }), environment);
    const namesOf = (role: 'api' | 'worker' | 'dispatcher') =>
      Object.keys(environments.get(role) ?? {}).filter((name) => name.startsWith('MALIPO_OPERATOR_KEYS'));
    assert.deepEqual([namesOf('api'), namesOf('dispatcher')], [[], []]);
    assert.equal(namesOf('worker').length, 2);
    assert.deepEqual(
      [...environments.values()].map((each) => [each['MALIPO_ROLES'], each['MALIPO_METRICS_PORT'], each['OTHER']]),
      [
        ['api', '9464', 'kept'],
        ['worker', '9465', 'kept'],
        ['dispatcher', '9466', 'kept'],
      ],
    );
  });
});
