// The guides: every link leads somewhere, what they show is escaped, and the commands of the first one work.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProjectRoot } from '../../src/project-root.ts';
import { COLLECTION_BEHAVIOURS } from '../../src/sandbox/behaviours.ts';
import { addressOf, DOWNLOADS, GUIDES, renderGuide } from '../../tools/guides.ts';
import { eventually, type TestEnvironment } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

const root = findProjectRoot();
const ASSETS = { style: '/docs/assets/guide.css', script: '/docs/assets/guide.js' };
const OTHER_PAGES = ['/docs/reference', '/console', ...Object.keys(DOWNLOADS).map((path) => `/docs/${path}`)];
/** What a page may weigh, compressed, with its style and script: it opens at once on a slow link. */
const MAX_PAGE_BYTES = 14 * 1024;

describe('the guides', () => {
  const pages = new Map(GUIDES.map((guide) => [addressOf(guide.slug), renderGuide(guide, root, ASSETS)]));
  const idsOf = (page: string) => [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);

  it('link to pages, parts of pages and downloads that exist', () => {
    const broken: string[] = [];
    for (const [address, page] of pages) {
      for (const [, link = ''] of page.matchAll(/<a [^>]*href="([^"]*)"/g)) {
        const [path = '', hash] = link.split('#');
        const target = path === '' ? page : pages.get(path);
        const isThere =
          target === undefined ? OTHER_PAGES.includes(path) : hash === undefined || idsOf(target).includes(hash);
        if (!isThere) broken.push(`${address}: ${link}`);
      }
    }
    assert.deepEqual(broken, []);
  });

  it('each have one main heading, unique ids, and nothing that runs or loads from elsewhere', () => {
    for (const [address, page] of pages) {
      assert.equal([...page.matchAll(/<h1 /g)].length, 1, address);
      const ids = idsOf(page);
      assert.equal(new Set(ids).size, ids.length, address);
      assert.doesNotMatch(
        page,
        /<script(?! src="\/docs\/)|<style|<img|<iframe|(?:src|href)="(?:https?:|\/\/)| style=| on\w+="/,
      );
    }
  });

  it('refuse a link to a page that the documentation lacks', () => {
    const folder = mkdtempSync(join(tmpdir(), 'malipo-test-'));
    try {
      mkdirSync(join(folder, 'docs/guides'), { recursive: true });
      const render = (text: string) => {
        writeFileSync(join(folder, 'docs/guides/index.md'), text);
        return renderGuide(GUIDES[0], folder, ASSETS);
      };
      assert.throws(() => render('# A\n\n[b](nothing.md)'), /links to nothing\.md/);
      assert.throws(() => render('# A\n\n[b](javascript:alert(1))'), /links to javascript/);
      const page = render('# A & <b>\n\n<script>alert(1)</script>\n\n`<i>` [x](states.md#collections)\n');
      assert.doesNotMatch(page, /<script>|<i>|<b>/);
      assert.match(page, /href="\/docs\/states#collections"/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('name every row of the sandbox operator', () => {
    const page = pages.get('/docs/test-numbers') ?? '';
    for (const row of COLLECTION_BEHAVIOURS.keys()) assert.ok(page.includes(`<code>${row}</code>`), row);
  });
});

describe('a page of the guides as it is served', () => {
  const testEnv = useTestEnvironment();

  it(`weighs at most ${MAX_PAGE_BYTES} bytes, with all that it loads`, async () => {
    const weigh = async (path: string): Promise<{ bytes: number; text: string }> => {
      const response = await fetch(testEnv.baseUrl + path, { headers: { 'accept-encoding': 'br' } });
      assert.equal(response.status, 200, path);
      return { bytes: Number(response.headers.get('content-length')), text: await response.text() };
    };
    for (const { slug } of GUIDES) {
      const { bytes, text } = await weigh(addressOf(slug));
      const files = [...text.matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
      const others = await Promise.all(files.map(weigh));
      const total = others.reduce((sum, file) => sum + file.bytes, bytes);
      console.log(`      ${addressOf(slug)}: ${total} bytes compressed`);
      assert.ok(total <= MAX_PAGE_BYTES, `${addressOf(slug)}: ${total}`);
    }
  });

  it('has commands that make a first payment, one after the other as they stand there', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'malipo-test-'));
    const inbox = await startInbox(testEnv);
    try {
      mkdirSync(join(folder, 'var'));
      const settings = {
        MALIPO_BASE_URL: testEnv.baseUrl,
        MALIPO_API_KEY: testEnv.merchant.key,
        MALIPO_WEBHOOK_INBOX_URL: inbox.url,
      };
      const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
      writeFileSync(join(folder, 'var/demo.env'), lines.join(''));
      const guide = readFileSync(join(root, 'docs/guides/first-payment.md'), 'utf8');
      const blocks = [...guide.matchAll(/```sh\n([^]*?)```/g)].map(([, commands = '']) => commands);
      assert.ok(blocks.length >= 6);
      const output = await run(`set -e -o pipefail\n${blocks.join('\necho "== next"\n')}`, folder);
      const answers = output.split('== next').map((text) => text.trim());
      assert.match(answers[1] ?? '', /"available":\d+/);
      assert.match(answers[2] ?? '', /"id":"col_.*"state":"initiated"/);
      assert.match(answers[3] ?? '', /"state":"succeeded"/);
      assert.match(answers[4] ?? '', /^collection\.succeeded/);
      assert.match(answers[5] ?? '', /"id":"col_.*"reference":"ORDER-2"/);
    } finally {
      await inbox.stop();
      rmSync(folder, { recursive: true });
    }
  });
});

/** Shows what the receiver got as the one of the demonstration does, once it has the success that is waited for. */
async function startInbox({ receiver, merchant }: TestEnvironment) {
  const received = () => receiver.all(merchant.id);
  const server = createServer((_, response) => {
    const look = () => Promise.resolve(received().some(({ event }) => event.type === 'collection.succeeded') || null);
    void eventually('the event of the success', look).finally(() => {
      const shown = received().map(({ isVerified, rawBody }) => ({ verified: isVerified, raw_body: String(rawBody) }));
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(shown));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** What the commands print. Fails with it when one of them fails. */
async function run(commands: string, cwd: string): Promise<string> {
  const child = spawn('bash', ['-c', commands], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const code = await new Promise((resolve) => child.once('close', resolve));
  assert.equal(code, 0, output);
  return output;
}
