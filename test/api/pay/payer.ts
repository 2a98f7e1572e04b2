// A payer with a browser without scripts: it keeps cookies, reads forms and posts them.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { addPerson, logIn } from '../../support/people.ts';
import type { Browser } from '../../support/browser.ts';
import { eventually, type TestEnvironment } from '../../support/test-environment.ts';

export type PayPage = {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
  readonly location: string | null;
  /** The hidden fields of its form that posts. */
  readonly fields: Readonly<Record<string, string>>;
  readonly heading: string;
};

export type Payer = {
  open(path: string, headers?: Record<string, string>): Promise<PayPage>;
  post(path: string, fields: Readonly<Record<string, string>>, headers?: Record<string, string>): Promise<PayPage>;
  /** Opens the checkout, types the number and presses the button. Returns the answer to the post. */
  pay(path: string, phone: string): Promise<PayPage>;
  /** Pays, and returns the path of the attempt's own page. */
  attempt(path: string, phone: string): Promise<string>;
  /** Loads the page again until its heading is this. */
  until(path: string, heading: string): Promise<PayPage>;
  readonly cookies: Map<string, string>;
};

/** `address`: of the client, as a proxy would pass it on. */
export function openPayer({ baseUrl }: Pick<TestEnvironment, 'baseUrl'>, address?: string): Payer {
  const cookies = new Map<string, string>();

  async function request(path: string, init: RequestInit): Promise<PayPage> {
    const sent = new Headers(init.headers);
    if (address !== undefined) sent.set('x-forwarded-for', address);
    if (cookies.size > 0) sent.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await fetch(new URL(path, baseUrl), { ...init, headers: sent, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const html = await response.text();
    return {
      ...{ status: response.status, headers: response.headers, html, location: response.headers.get('location') },
      fields: fieldsIn(html),
      heading: unescaped(/<h1[^>]*>(.*?)<\/h1>/.exec(html)?.[1]?.replaceAll(/<\/?bdi>/g, '') ?? ''),
    };
  }

  const payer: Payer = {
    cookies,
    open: (path, headers = {}) => request(path, { headers }),
    post: (path, fields, headers = {}) => request(path, { method: 'POST', body: new URLSearchParams(fields), headers }),
    async pay(path, phone) {
      const page = await payer.open(path);
      assert.equal(page.status, 200, page.html);
      return payer.post(path, { ...page.fields, phone });
    },
    async attempt(path, phone) {
      const { status, location, html } = await payer.pay(path, phone);
      assert.equal(status, 303, html);
      return String(location);
    },
    until: (path, heading) =>
      eventually(`the page to say ${heading}`, async () => {
        const page = await payer.open(path);
        return page.heading === heading && page;
      }),
  };
  return payer;
}

function fieldsIn(html: string): Record<string, string> {
  const [form = ''] = /<form method="post"[^]*?<\/form>/.exec(html) ?? [];
  const inputs = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  return Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, value]));
}

const ESCAPES = { '&#39;': "'", '&quot;': '"', '&lt;': '<', '&gt;': '>', '&amp;': '&' } as const;

export function unescaped(html: string): string {
  return html.replace(/&(?:#39|quot|lt|gt|amp);/g, (escape) => ESCAPES[escape as keyof typeof ESCAPES]);
}

export type MadeCheckout = { readonly id: string; readonly path: string };
/** Makes a checkout in the console, as a maker of the merchant. */
export type MakeCheckout = (fields?: Readonly<Record<string, unknown>>) => Promise<MadeCheckout>;

export async function checkoutMaker(
  testEnv: TestEnvironment,
  merchantId = testEnv.merchant.id,
): Promise<{ maker: Browser; make: MakeCheckout }> {
  const maker = await logIn(testEnv, await addPerson(testEnv, merchantId, ['maker']));
  const make: MakeCheckout = async (fields = {}) => {
    const json = { amount: 5000, reference: 'INV-1', ...fields };
    const {
      status,
      json: made,
      text,
    } = await maker.call('POST', '/v1/console/checkouts', {
      json,
      idempotencyKey: randomUUID(),
    });
    assert.equal(status, 201, text);
    return { id: String(made['id']), path: new URL(String(made['url'])).pathname };
  };
  return { maker, make };
}
