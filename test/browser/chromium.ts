// A real Chromium for the tests of pages, with people in it; whatever a page complains about fails the test.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import bundled from '@sparticuz/chromium';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { findProjectRoot } from '../../src/project-root.ts';
import { codeOf, forgetUsedCodes, PASSWORD, type TestPerson } from '../support/people.ts';
import { atRunEnd } from '../support/run-end.ts';
import type { TestEnvironment, TestEnvironmentOptions } from '../support/test-environment.ts';
import { useFixture } from '../support/use-fixture.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

/** A page has this long for whatever it waits for, also on a machine that is busy. */
const PATIENCE_MS = 60_000;
const INSTALLED = [
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

type Chromium = { readonly browser: Browser };
/** `timeoutMs` is how long a case may take, also on a machine that is busy with other tests. */
type BrowserOptions = TestEnvironmentOptions & { readonly timeoutMs?: number };

let launched: Promise<Browser> | null = null;

/**
 * The browser of the run, for the cases of the surrounding `describe`, after which no page of theirs is open. A case that fails leaves
 * a picture of each page that is open.
 */
export function useChromium(): Chromium {
  const chromium = useFixture(
    async () => ({ browser: await (launched ??= launchChromium()) }),
    async ({ browser }) => {
      for (const context of browser.contexts()) await context.close();
    },
  );
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await keepPictures(chromium.browser);
  });
  return chromium;
}

/** A `describe` whose cases have one test environment and the browser of the run. */
export function describeInBrowser(
  title: string,
  { timeoutMs = 240_000, ...options }: BrowserOptions,
  cases: (testEnv: TestEnvironment, chromium: Chromium) => void,
): void {
  describe(title, function () {
    this.timeout(timeoutMs);
    cases(useTestEnvironment(options), useChromium());
  });
}

async function keepPictures(browser: Browser): Promise<void> {
  const pages = browser.contexts().flatMap((context) => context.pages());
  for (const [index, page] of pages.entries()) {
    const path = join(findProjectRoot(), 'var', 'screenshots', `failed-${Date.now()}-${index}.png`);
    // A page that crashed has none.
    await page.screenshot({ path }).then(
      () => {
        console.log(`${page.url()}: ${path}`);
      },
      () => undefined,
    );
  }
}

// The package brings the same browser to every machine that it has one for; others need one that is installed.
async function launchChromium(): Promise<Browser> {
  const executablePath =
    platform() === 'linux' && arch() === 'x64'
      ? await bundled.executablePath()
      : INSTALLED.find((path) => existsSync(path));
  assert.ok(executablePath !== undefined, 'no Chromium or Chrome is installed');
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  atRunEnd(() => browser.close());
  return browser;
}

/** What a page reported by itself: errors of scripts, and what the content security policy refused. */
const complaints = new WeakMap<Page, string[]>();
// The browser's own line for a response with an error status, which the page shows to the person.
const ABOUT_A_STATUS = 'Failed to load resource: the server responded with a status of';

/** A page of a browser of its own, without any session. */
export async function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const found: string[] = [];
  complaints.set(page, found);
  page.on('pageerror', (error) => found.push(error.message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()) && !message.text().startsWith(ABOUT_A_STATUS))
      found.push(message.text());
  });
  await page.goto(url);
  return page;
}

/** Closes the page and its browser context. Fails when a script failed or a policy was violated. */
export async function closePage(page: Page): Promise<void> {
  await page.context().close();
  assert.deepEqual(complaints.get(page), []);
}

/** Logs the person in as they would themselves. */
export async function logInByHand(testEnv: Pick<TestEnvironment, 'db'>, page: Page, person: TestPerson): Promise<void> {
  await forgetUsedCodes(testEnv, person);
  await page.getByLabel('E-mail').fill(person.email);
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
  if (person.totpSecret !== null)
    await page.getByLabel('Code of your authenticator app').fill(codeOf(person.totpSecret));
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  await page.getByRole('button', { name: 'Log in', exact: true }).waitFor({ state: 'detached' });
}

type ConsoleOptions = BrowserContextOptions & { readonly path?: string };

/** A page of the console, at this path or its first one, of this person. */
export async function openConsole(
  testEnv: Pick<TestEnvironment, 'db' | 'baseUrl'>,
  browser: Browser,
  person: TestPerson,
  { path = '', ...options }: ConsoleOptions = {},
): Promise<Page> {
  const page = await openPage(browser, `${testEnv.baseUrl}/console${path}`, options);
  await logInByHand(testEnv, page, person);
  return page;
}
