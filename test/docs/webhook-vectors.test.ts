// Checks the test vectors with our own signatures, the example receiver, and the code in docs/guides/webhooks.md.
import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signatureHeader } from '../../src/security/webhook-signature.ts';
import { findProjectRoot } from '../../src/project-root.ts';
import type { WebhookTestVector } from '../../tools/webhook-test-vectors.ts';

const root = findProjectRoot();
const RECEIVER = join(root, 'docs/examples/webhook-receiver.mjs');

type Verify = (header: string, rawBody: Buffer, secret: string, nowS: number) => boolean;
type Receiver = { readonly isSignatureValid: Verify };
type Shown = { readonly verified: boolean; readonly duplicate: boolean };

const { vectors } = JSON.parse(readFileSync(join(root, 'docs/webhook-test-vectors.json'), 'utf8')) as {
  vectors: WebhookTestVector[];
};

/** Reads the vectors and writes the verdicts. */
const GO_MAIN = `package main

import (
	"encoding/json"
	"os"
)

func main() {
	var file struct {
		Vectors []struct {
			Header, Body, Secret string
			Now                  int64
		}
	}
	if err := json.NewDecoder(os.Stdin).Decode(&file); err != nil {
		panic(err)
	}
	verdicts := []bool{}
	for _, v := range file.Vectors {
		verdicts = append(verdicts, IsSignatureValid(v.Header, []byte(v.Body), v.Secret, v.Now))
	}
	json.NewEncoder(os.Stdout).Encode(verdicts)
}
`;

describe('the webhook test vectors', () => {
  it('contain valid and invalid signatures, each under a unique name', () => {
    assert.equal(new Set(vectors.map(({ name, valid }) => `${name} ${valid}`)).size, vectors.length);
    assert.ok(vectors.filter(({ valid }) => valid).length >= 10);
    assert.ok(vectors.filter(({ valid }) => !valid).length >= 20);
  });

  it('are valid exactly when they have one of our signatures and a time within five minutes', () => {
    for (const { name, header, body, secret, now, valid } of vectors) {
      const t = /(?:^|,)t=([0-9]+)(?:,|$)/.exec(header)?.[1];
      const own = t === undefined ? [] : signatureHeader(Buffer.from(body), [secret], Number(t)).split(',');
      const isSigned = own.length === 2 && header.split(',').includes(own[1]!);
      const isInTime = t !== undefined && Math.abs(now - Number(t)) <= 300;
      assert.equal(isSigned && isInTime, valid, name);
    }
  });

  it('get the same verdict from the example receiver', async () => {
    const { isSignatureValid } = (await import(RECEIVER)) as Receiver;
    for (const { name, header, body, secret, now, valid } of vectors) {
      assert.equal(isSignatureValid(header, Buffer.from(body), secret, now), valid, name);
    }
  });

  const page = readFileSync(join(root, 'docs/guides/webhooks.md'), 'utf8');
  const codeIn = (language: string) => new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(page)?.[1] ?? '';

  it('get the same verdict from the Node code in docs/guides/webhooks.md', async () => {
    const address = `data:text/javascript,${encodeURIComponent(codeIn('js'))}`;
    const { isSignatureValid } = (await import(address)) as Receiver;
    for (const { name, header, body, secret, now, valid } of vectors) {
      assert.equal(isSignatureValid(header, Buffer.from(body), secret, now), valid, name);
    }
  });

  it('get the same verdict from the Go code in docs/guides/webhooks.md', function () {
    if (spawnSync('go', ['version']).error) this.skip();
    const folder = mkdtempSync(join(tmpdir(), 'malipo-test-'));
    try {
      writeFileSync(join(folder, 'verify.go'), codeIn('go'));
      writeFileSync(join(folder, 'main.go'), GO_MAIN);
      const input = readFileSync(join(root, 'docs/webhook-test-vectors.json'));
      const { status, stdout, stderr } = spawnSync('go', ['run', 'main.go', 'verify.go'], {
        cwd: folder,
        input,
        env: { ...process.env, GO111MODULE: 'off' },
      });
      assert.equal(status, 0, String(stderr));
      const verdicts = JSON.parse(String(stdout)) as boolean[];
      assert.deepEqual(
        vectors.map(({ name }, n) => [name, verdicts[n]]),
        vectors.map(({ name, valid }) => [name, valid]),
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('get the same verdict from the Python code in docs/guides/webhooks.md', function () {
    if (spawnSync('python3', ['--version']).error) this.skip();
    const program = `${codeIn('python')}
import json, sys
vectors = json.load(sys.stdin)["vectors"]
print(json.dumps([is_signature_valid(v["header"], v["body"].encode(), v["secret"], v["now"]) for v in vectors]))
`;
    const input = readFileSync(join(root, 'docs/webhook-test-vectors.json'));
    const { status, stdout, stderr } = spawnSync('python3', ['-c', program], { input, timeout: 30_000 });
    assert.equal(status, 0, stderr.toString());
    const verdicts = JSON.parse(stdout.toString()) as boolean[];
    assert.deepEqual(
      vectors.map(({ name }, n) => [name, verdicts[n]]),
      vectors.map(({ name, valid }) => [name, valid]),
    );
  });
});

describe('the example receiver', () => {
  const secret = 'whsec_example';
  let child: ChildProcess;
  let url: string;
  before(async () => {
    child = spawn(process.execPath, [RECEIVER], {
      env: { MALIPO_WEBHOOK_SECRET: secret, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    url = await new Promise<string>((resolve, reject) => {
      let output = '';
      child.stdout!.on('data', (text) => {
        output += String(text);
        const found = /http:\/\/127\.0\.0\.1:[0-9]+/.exec(output);
        if (found) resolve(found[0]);
      });
      child.on('exit', () => {
        reject(new Error(`the receiver ended: ${output}`));
      });
    });
  });
  after(() => void child.kill());

  const post = async (body: string | Buffer, signature?: string) => {
    const at = Math.floor(Date.now() / 1000);
    const header = signature ?? signatureHeader(Buffer.from(body), [secret], at);
    return (await fetch(url, { method: 'POST', body, headers: { 'malipo-signature': header } })).status;
  };
  const shown = async () => (await (await fetch(url)).json()) as Shown[];
  const last = async () => {
    const { verified, duplicate } = (await shown()).at(-1)!;
    return { verified, duplicate };
  };
  const event = (id: string) => JSON.stringify({ id, type: 'endpoint.test', data: { object: { id: 'whe_1' } } });

  it('accepts an event, and accepts it again as a duplicate', async () => {
    assert.equal(await post(event('evt_1')), 200);
    assert.deepEqual(await last(), { verified: true, duplicate: false });
    assert.equal(await post(event('evt_1')), 200);
    assert.deepEqual(await last(), { verified: true, duplicate: true });
    assert.equal(await post(event('evt_2')), 200);
    assert.deepEqual(await last(), { verified: true, duplicate: false });
  });

  it('answers 400 to a signature that does not verify, and accepts the next event', async () => {
    const now = Math.floor(Date.now() / 1000);
    const other = signatureHeader(Buffer.from(event('evt_3')), ['whsec_other'], now);
    const beyondAscii = signatureHeader(Buffer.from(event('evt_3')), [secret], now).replace(/v1=./, 'v1=é');
    for (const signature of [other, beyondAscii, '', 't=1,v1=2']) {
      assert.equal(await post(event('evt_3'), signature), 400, signature);
    }
    assert.deepEqual(await last(), { verified: false, duplicate: false });
    assert.equal(await post(event('evt_3')), 200);
    assert.deepEqual(await last(), { verified: true, duplicate: false });
  });

  it('answers 400 to a signed body that is not an event', async () => {
    for (const body of ['', 'null', '{', '{"id":7}']) assert.equal(await post(body), 400, body);
  });

  it('refuses a body that is too large, and a method other than POST', async () => {
    const before = (await shown()).length;
    const status = await post(Buffer.alloc(300_000, 'a')).catch(() => 'cut off');
    assert.ok(status === 413 || status === 'cut off', String(status));
    assert.equal((await shown()).length, before);
    assert.equal((await fetch(url, { method: 'PUT' })).status, 405);
  });
});
