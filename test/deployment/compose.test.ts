// docker-compose.yml against the Compose specification's own schema (from compose-go 2.16.2, Apache-2.0), and against
// our code.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import { sessionCookieName } from '../../src/api/session-cookie.ts';
import {
  loadAccountsSettings,
  loadCommandConfig,
  loadConfig,
  loadMigrateSettings,
  loadSandboxSettings,
} from '../../src/settings/config.ts';
import { MEMORY_ENVIRONMENT } from '../../src/engines/process/child-process.ts';
import { TEMPORAL_ENVIRONMENT } from '../../src/engines/temporal/server.ts';
import { findProjectRoot } from '../../src/project-root.ts';

type Service = {
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly networks?: readonly string[];
  readonly privileged?: boolean;
  readonly build?: { readonly args?: Readonly<Record<string, string>> };
  readonly image?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>> | readonly string[];
};
type Compose = {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<
    Record<string, { readonly internal?: boolean; readonly driver_opts?: Readonly<Record<string, string>> }>
  >;
};

const root = findProjectRoot();
const compose = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), { merge: true }) as Compose;
const schema = JSON.parse(readFileSync(join(root, 'test/deployment/compose-spec.json'), 'utf8')) as object;

/** Replaces `${NAME}`, `${NAME:-default}` and `${NAME:?message}` as Compose does. */
function filledIn(text: string): string {
  const values: Readonly<Record<string, string>> = {
    MALIPO_SECRET_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
    MALIPO_ATTESTATION_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
    MALIPO_OPERATOR_KEYS: `k1:${Buffer.alloc(32, 2).toString('base64')}`,
  };
  return text.replace(/\$\{([A-Z_]+)(?::([-?])([^}]*))?\}/g, (_match, name: string, kind?: string, rest?: string) =>
    kind === '-' ? (rest ?? '') : (values[name] ?? 'value'),
  );
}

function environmentOf(service: string): Record<string, string> {
  const environment = compose.services[service]?.environment ?? {};
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, filledIn(value)]));
}

describe('docker-compose.yml', () => {
  it('is valid by the schema of the Compose specification', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    assert.ok(ajv.validate(schema, compose), ajv.errorsText());
  });

  it('has PostgreSQL, Temporal on PostgreSQL with its UI, Malipo and the sandbox operator', () => {
    const services = Object.keys(compose.services);
    for (const name of [
      'postgres',
      'accounts',
      'temporal-schema',
      'temporal',
      'temporal-ui',
      'migrate',
      'malipo',
      'sandbox',
    ]) {
      assert.ok(services.includes(name), `no service ${name}`);
    }
    assert.equal(environmentOf('temporal')['DB'], 'postgres12_pgx');
  });

  it('gives the server and the sandbox a valid configuration', () => {
    assert.equal(loadConfig(environmentOf('malipo')).temporalNamespace, 'malipo-test');
    assert.equal(loadCommandConfig(environmentOf('migrate')).temporalNamespace, 'malipo-test');
    assert.equal(loadSandboxSettings(environmentOf('sandbox')).MALIPO_SANDBOX_HOST, '0.0.0.0');
  });

  it('gives each process its own account of the database, and the superuser to the one that creates them', () => {
    const accounts = loadAccountsSettings(environmentOf('accounts'));
    const { MALIPO_DATABASE_OWNER_URL: owner } = loadMigrateSettings(environmentOf('migrate'));
    const { MALIPO_DATABASE_URL: application } = loadConfig(environmentOf('malipo')).settings;
    assert.equal(owner.reveal(), accounts.MALIPO_DATABASE_OWNER_URL.reveal());
    assert.equal(application.reveal(), accounts.MALIPO_DATABASE_URL.reveal());
    const temporal = new URL(accounts.MALIPO_TEMPORAL_DATABASE_URL!.reveal());
    for (const [service, name] of [
      ['temporal', 'POSTGRES_USER'],
      ['temporal-schema', 'SQL_USER'],
    ] as const)
      assert.equal(environmentOf(service)[name], temporal.username);
    const names = [owner, application, accounts.MALIPO_DATABASE_REPORT_URL!].map(
      (url) => new URL(url.reveal()).username,
    );
    assert.deepEqual(names, ['malipo_owner', 'malipo_app', 'malipo_report']);
    for (const [name, { environment = {} }] of Object.entries(compose.services)) {
      const text = JSON.stringify(environment);
      assert.equal(text.includes('${POSTGRES_PASSWORD'), ['postgres', 'accounts'].includes(name), name);
      assert.equal(text.includes('OWNER_PASSWORD'), ['accounts', 'migrate'].includes(name), name);
      assert.equal(text.includes('MALIPO_OPERATOR_KEYS'), name === 'malipo', name);
      assert.equal(text.includes('MALIPO_SANDBOX_MTN'), name === 'sandbox', name);
    }
  });

  it('lets people log in at the published address, and the sandbox call back from its container', () => {
    const { settings } = loadConfig(environmentOf('malipo'));
    const published = new URL(settings.MALIPO_PUBLIC_URL);
    // The origin of the pages in a browser; for this machine a browser keeps a session without TLS.
    assert.equal(published.origin, 'http://localhost:8080');
    assert.equal(sessionCookieName(settings.MALIPO_PUBLIC_URL), 'malipo_session');
    assert.ok(compose.services['malipo']?.ports?.includes(`${published.port}:${settings.MALIPO_HTTP_PORT}`));
    const callback = new URL(settings.MALIPO_CALLBACK_URL ?? '');
    assert.ok(compose.services[callback.hostname], 'a name that the sandbox can find');
    assert.equal(Number(callback.port), settings.MALIPO_HTTP_PORT);
  });

  it('has an example with all that it needs, and with its default values', () => {
    const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
    const example = readFileSync(join(root, 'docs/compose.env.example'), 'utf8');
    const given = new Map([...example.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value]) => [name, value]));
    for (const [, name = '', , fallback] of text.matchAll(/\$\{([A-Z_]+)(:-([^}]*))?/g)) {
      assert.ok(given.has(name), `${name} is not in the example`);
      if (fallback !== undefined) assert.equal(given.get(name), fallback, name);
    }
    for (const name of given.keys()) assert.ok(text.includes(`\${${name}`), `${name} is used nowhere`);
  });

  it('uses only settings that the code knows', () => {
    const files = ['config', 'sandbox'].map((name) => join(root, `src/settings/${name}.ts`));
    const config = files.map((file) => readFileSync(file, 'utf8')).join('');
    for (const service of ['accounts', 'malipo', 'migrate', 'sandbox']) {
      for (const name of Object.keys(environmentOf(service))) assert.ok(config.includes(`${name}:`), name);
    }
  });

  it('starts entries that the build creates', () => {
    for (const { command } of Object.values(compose.services)) {
      const entry = command?.find((word) => word.startsWith('dist/'));
      if (entry === undefined) continue;
      assert.ok(existsSync(join(root, entry.replace(/^dist\//, '').replace(/\.js$/, '.ts'))), entry);
    }
  });

  it('waits only for services that exist', () => {
    for (const [name, { depends_on: needs = {} }] of Object.entries(compose.services)) {
      const names = Array.isArray(needs) ? (needs as string[]) : Object.keys(needs);
      for (const needed of names) assert.ok(compose.services[needed], `${name} waits for ${needed}`);
    }
  });

  it('gives no service a writable image file system, a right of root, or a way to get one', () => {
    for (const [name, service] of Object.entries(compose.services)) {
      assert.equal(service.read_only, true, name);
      assert.deepEqual(service.cap_drop, ['ALL'], name);
      assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name);
      assert.equal(service.privileged, undefined, name);
      // PostgreSQL's image begins as root, gives the volume to its own account and goes on as that.
      if (name !== 'postgres') assert.equal(service.cap_add, undefined, name);
    }
  });

  it('lets each service reach only its dependencies', () => {
    /** Whether a connection from the network to an address outside gets an answer. */
    const hasWayOut = (network: string): boolean => {
      const { internal, driver_opts: options } = compose.networks[network] ?? {};
      return internal !== true && options?.['com.docker.network.bridge.enable_ip_masquerade'] !== 'false';
    };
    const networksOf = (name: string) => compose.services[name]?.networks ?? [];
    const reached = (name: string): string[] => {
      const others = Object.keys(compose.services).filter(
        (other) => other !== name && networksOf(other).some((network) => networksOf(name).includes(network)),
      );
      return [...others.sort(), ...(networksOf(name).some(hasWayOut) ? ['the internet'] : [])];
    };
    assert.deepEqual(reached('sandbox'), ['malipo']);
    assert.deepEqual(reached('temporal-ui'), ['malipo', 'migrate', 'temporal']);
    assert.deepEqual(reached('accounts'), ['malipo', 'migrate', 'postgres', 'temporal', 'temporal-schema']);
    // Webhooks go to the merchants' own servers.
    const withWayOut = Object.keys(compose.services).filter((name) => reached(name).includes('the internet'));
    assert.deepEqual(withWayOut, ['malipo']);
    for (const [name, { networks = [], ports }] of Object.entries(compose.services)) {
      assert.notEqual(networks.length, 0, `${name} would be on the network of everybody`);
      for (const network of networks) assert.ok(compose.networks[network], `${name} is on ${network}`);
      // A port is published from a network that is not internal alone.
      const isPublishable = networks.some((network) => compose.networks[network]?.internal !== true);
      assert.equal(isPublishable, ports !== undefined, name);
    }
  });

  it('takes every image by its digest, which the deployment sets, and builds on none without', () => {
    // Nothing but a digest can follow the @ in the name of an image.
    const byDigest = /^[a-z/-]+:[\w.-]+@\$\{[A-Z_]+_DIGEST:\?set it in \.env\}$/;
    const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
    assert.deepEqual(
      [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image),
      ['${NODE_IMAGE}', '${NODE_IMAGE}'],
    );
    assert.match(dockerfile, /^ARG NODE_IMAGE$/m);
    assert.match(dockerfile, /\*@sha256:\*\) ;; \*\) .*exit 1/);
    assert.match(dockerfile, /npm ci --ignore-scripts/);
    for (const [name, { image = '', build }] of Object.entries(compose.services)) {
      if (build) assert.deepEqual(Object.keys(build.args ?? {}), ['NODE_IMAGE'], name);
      for (const value of Object.values(build?.args ?? {})) assert.match(value, byDigest, name);
      if (image !== 'malipo') assert.match(image, byDigest, name);
    }
  });

  it('bounds the memory of processes and engine as npm start does', () => {
    const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
    for (const [name, value] of Object.entries(MEMORY_ENVIRONMENT)) {
      assert.match(dockerfile, new RegExp(`^ENV .*\\b${name}="?${value}"?(?: |$)`, 'm'), name);
    }
    const { GOGC, GOMEMLIMIT } = TEMPORAL_ENVIRONMENT;
    const { environment = {} } = compose.services['temporal'] ?? {};
    assert.deepEqual(
      [environment['GOGC'], environment['GOMEMLIMIT']],
      [GOGC, `\${TEMPORAL_GOMEMLIMIT:-${GOMEMLIMIT}}`],
    );
  });

  it('keeps the engine and the database off the network', () => {
    for (const name of ['postgres', 'temporal']) assert.equal(compose.services[name]?.ports, undefined);
    for (const name of ['temporal-ui', 'sandbox']) {
      for (const port of compose.services[name]?.ports ?? []) assert.match(port, /^127\.0\.0\.1:/);
    }
  });
});
