// The key of M-Pesa in the embedded start: what the server encrypts for is what the sandbox process decrypts with.
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { createPublicKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { darajaFiles, prepareDarajaFiles } from '../../src/dev/demo-daraja.ts';
import { demoSecrets } from '../../src/dev/demo-secrets.ts';
import { findProjectRoot } from '../../src/project-root.ts';
import { loadSandboxSettings } from '../../src/settings/config.ts';

describe('the key of M-Pesa in the embedded start', () => {
  let folder: string;
  let child: ChildProcess | null = null;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'malipo-daraja-'));
    prepareDarajaFiles(folder);
  });

  after(async () => {
    if (child?.exitCode === null) {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    }
    await rm(folder, { recursive: true, force: true });
  });

  it('stays the same at every start, as its public half does, and is this user’s alone', () => {
    const { key, publicHalf } = darajaFiles(folder);
    const read = () => [key, publicHalf].map((path) => readFileSync(path, 'utf8'));
    const texts = read();
    prepareDarajaFiles(folder);
    assert.deepEqual(read(), texts);
    assert.equal(statSync(key).mode & 0o077, 0);
  });

  it('is that of the sandbox process, which publishes its certificate and takes the same credentials', async () => {
    const secrets = demoSecrets(join(folder, 'secrets.json'), undefined);
    const { key, publicHalf } = darajaFiles(folder);
    const url = await start({ ...secrets, MALIPO_SANDBOX_DARAJA_PRIVATE_KEY_FILE: key, MALIPO_SANDBOX_PORT: '0' });
    const published = await fetch(`${url}/sandbox/daraja/certificate`);
    const { publicKey } = new X509Certificate(await published.text());
    assert.ok(publicKey.equals(createPublicKey(readFileSync(publicHalf))));
    const client = `${secrets['MALIPO_SANDBOX_DARAJA_CONSUMER_KEY']}:${secrets['MALIPO_SANDBOX_DARAJA_CONSUMER_SECRET']}`;
    const Authorization = `Basic ${Buffer.from(client).toString('base64')}`;
    const token = await fetch(`${url}/oauth/v1/generate?grant_type=client_credentials`, { headers: { Authorization } });
    assert.equal(token.status, 200);
  });

  it('is refused by the sandbox process where it is none', () => {
    const secrets = demoSecrets(join(folder, 'secrets.json'), undefined);
    const wrong = { ...secrets, MALIPO_SANDBOX_DARAJA_PRIVATE_KEY: 'no key' };
    assert.throws(() => loadSandboxSettings(wrong), /MALIPO_SANDBOX_DARAJA_PRIVATE_KEY: must be a private key of RSA/);
  });

  /** Resolves with the address that the sandbox process logs. */
  async function start(settings: Readonly<Record<string, string>>): Promise<string> {
    const entry = join(findProjectRoot(), 'src/server/entries/sandbox.ts');
    const env = { PATH: process.env['PATH'], ...settings };
    const started = spawn(process.execPath, ['--import=tsx/esm', entry], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    child = started;
    let text = '';
    for await (const chunk of started.stdout) {
      text += String(chunk);
      const [, url] = /"url":"(http[^"]+)"/.exec(text) ?? [];
      if (url !== undefined) return url;
    }
    throw new Error(`the sandbox process ended: ${text}`);
  }
});
