// The pages where people decide payments: the payers' handset and the operator's page; plain forms without scripts.
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasAtLeast, callbackStatuses, SHORT_TIMES, submit, until, useSandbox } from './sandbox-harness.ts';

/** Longer than a test takes to decide, also on a busy machine. */
const TIMES = { ...SHORT_TIMES, decisionMs: 700 };

describe('a person at the sandbox operator', () => {
  const { sandbox, receiver, client } = useSandbox({ startingFloat: 1000, times: TIMES });

  const collect = (row: string, changes: Record<string, unknown> = {}): Promise<string> =>
    submit(client, 'requestToPay', row, { callbackUrl: receiver.url, changes });
  const send = (row: string, changes: Record<string, unknown> = {}): Promise<string> =>
    submit(client, 'transfer', row, { callbackUrl: receiver.url, changes });

  async function show(path: string): Promise<{ status: number; page: string }> {
    const answer = await fetch(`${sandbox.url}/sandbox/${path}`, { redirect: 'manual' });
    return { status: answer.status, page: await answer.text() };
  }

  /** Submits a form and follows the redirect. */
  async function press(
    where: 'handset' | 'operator',
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; page: string; location: string | null }> {
    const answer = await fetch(`${sandbox.url}/sandbox/${where}`, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers,
      redirect: 'manual',
    });
    const location = answer.headers.get('location');
    if (location === null) return { status: answer.status, page: await answer.text(), location };
    return { status: answer.status, page: await (await fetch(new URL(location, sandbox.url))).text(), location };
  }

  function stateOf(reference: string): Promise<unknown> {
    return client.seen(reference).then((seen) => seen?.['state']);
  }

  const calledBack = (reference: string): unknown[] => callbackStatuses(receiver, reference);

  describe('with the handset', () => {
    const choices: [string, Record<string, string>, string, string | undefined][] = [
      ['approves with a PIN of four digits', { choice: 'approve', pin: '1234' }, 'SUCCESSFUL', undefined],
      ['approves with a PIN of five digits', { choice: 'approve', pin: '00000' }, 'SUCCESSFUL', undefined],
      ['enters a wrong PIN', { choice: 'wrong_pin', pin: '' }, 'FAILED', 'WRONG_PIN'],
      ['cancels', { choice: 'cancel', pin: '' }, 'FAILED', 'APPROVAL_REJECTED'],
    ];
    for (const [what, fields, status, reason] of choices) {
      it(`${what}: ${reason ?? status}, and the callback reports that once`, async () => {
        const reference = await collect('099');
        assert.equal((await client.status(reference)).body?.['status'], 'PENDING');
        const { status: code, page } = await press('handset', { reference, ...fields });
        assert.equal(code, 303);
        assert.match(page, status === 'SUCCESSFUL' ? /UGX\u00a0500: paid/ : /UGX\u00a0500: not paid/);
        const { body } = await client.status(reference);
        assert.equal(body?.['status'], status);
        assert.equal((body['reason'] as { code: string } | undefined)?.code, reason);
        await until(() => calledBack(reference), hasAtLeast(1));
        await sleep(20);
        assert.deepEqual(calledBack(reference), [status]);
      });
    }

    it('decides any pending payment before the table does, and for good', async () => {
      const [refused, approved] = [await collect('500'), await collect('001')];
      await press('handset', { reference: refused, choice: 'cancel' });
      await press('handset', { reference: approved, choice: 'approve', pin: '1234' });
      await sleep(TIMES.decisionMs + 40);
      assert.deepEqual([await stateOf(refused), await stateOf(approved)], ['FAILED', 'SUCCESSFUL']);
      assert.deepEqual([calledBack(refused), calledBack(approved)], [['FAILED'], ['SUCCESSFUL']]);
    });

    it('may decide a payment that is never decided by the table, and the callback is sent', async () => {
      const reference = await collect('010');
      await press('handset', { reference, choice: 'approve', pin: '1234' });
      await until(() => calledBack(reference), hasAtLeast(1));
      assert.deepEqual(calledBack(reference), ['SUCCESSFUL']);
    });

    it('comes too late for a decided payment, and sees its outcome', async () => {
      const reference = await collect('012');
      const { page, location } = await press('handset', { reference, choice: 'cancel' });
      assert.match(String(location), /&late=/);
      assert.match(page, /Too late, it was decided before\. UGX\u00a0500: paid/);
      assert.equal(await stateOf(reference), 'SUCCESSFUL');
    });

    it('decides once when several choices arrive at the same time, and the others see that they were late', async () => {
      const reference = await collect('099');
      const choices = ['cancel', 'approve', 'wrong_pin', 'cancel', 'approve', 'cancel'];
      const pressed = await Promise.all(choices.map((choice) => press('handset', { reference, choice, pin: '1234' })));
      assert.equal(pressed.filter(({ location }) => location?.includes('answered=')).length, 1);
      await sleep(30);
      assert.equal(calledBack(reference).length, 1);
    });

    it('sees an approved payment of row 015 returned later, but not a refused one', async () => {
      const [approved, refused] = [await collect('015'), await collect('015')];
      await press('handset', { reference: approved, choice: 'approve', pin: '1234' });
      await press('handset', { reference: refused, choice: 'cancel' });
      await until(() => calledBack(approved), hasAtLeast(2));
      await sleep(TIMES.reversalMs);
      assert.deepEqual(calledBack(approved), ['SUCCESSFUL', 'FAILED']);
      assert.deepEqual(calledBack(refused), ['FAILED']);
    });

    it('sees the form again after an invalid PIN, and nothing is decided', async () => {
      const reference = await collect('099', { payer: { partyIdType: 'MSISDN', partyId: '256772777099' } });
      for (const pin of ['', '123', '123456', '12a4', '12 34']) {
        const { status, page } = await press('handset', { reference, choice: 'approve', pin });
        assert.equal(status, 400, pin);
        assert.match(page, /That is no PIN/);
        assert.match(page, /aria-invalid="true" aria-describedby="wrong-/);
      }
      assert.equal(await stateOf(reference), 'PENDING');
      assert.deepEqual(calledBack(reference), []);
    });

    it('sees only the prompts of its own phone, oldest first, and recent outcomes', async () => {
      const payer = (partyId: string) => ({ payer: { partyIdType: 'MSISDN', partyId } });
      await collect('', { ...payer('256772888099'), payerMessage: 'First', amount: '1234567.5' });
      await collect('', { ...payer('256772888099'), payerMessage: 'Second' });
      await collect('', { ...payer('256772999099'), payerMessage: 'Elsewhere' });
      const { page } = await show('handset?phone=256772888099');
      assert.ok(page.indexOf('First') > 0 && page.indexOf('First') < page.indexOf('Second'));
      assert.match(page, /Pay UGX\u00a01,234,567\.5\?/);
      assert.ok(page.includes('<p>Note: <bdi>First</bdi></p>'), 'what the merchant wrote is named so');
      assert.doesNotMatch(page, /Elsewhere|http-equiv/);
      assert.match((await show('handset')).page, /href="\/sandbox\/handset\?phone=256772999099"/);
      assert.equal((await show('handset?phone=%2B256 772 888 099')).status, 200);
    });

    it('gets a page that reloads by itself when there is no form', async () => {
      const { page } = await show('handset?phone=256700000001');
      assert.match(page, /<meta http-equiv="refresh" content="\d+"/);
      assert.match(page, /Nothing to approve/);
    });

    it('sees an error for an invalid phone number', async () => {
      const { status, page } = await show('handset?phone=0772');
      assert.equal(status, 400);
      assert.match(page, /aria-invalid="true" aria-describedby="wrong-phone"/);
    });
  });

  describe('at the operator page', () => {
    it('approves and fails pending payouts, and the callback reports that once', async () => {
      const [approved, failed] = [await send('099', { payeeNote: 'Wages' }), await send('099')];
      const { page } = await show('operator');
      assert.ok(page.includes('<p>Note: <bdi>Wages</bdi></p>'), page);
      assert.ok(page.includes(approved) && page.includes(failed));
      assert.equal((await press('operator', { reference: approved, choice: 'approve' })).status, 303);
      assert.match((await press('operator', { reference: failed, choice: 'fail' })).page, /UGX\u00a0500: not paid/);
      assert.equal((await client.transferStatus(approved)).body?.['status'], 'SUCCESSFUL');
      const { body } = await client.transferStatus(failed);
      assert.deepEqual(
        [body?.['status'], (body?.['reason'] as { code: string }).code],
        ['FAILED', 'INTERNAL_PROCESSING_ERROR'],
      );
      await until(() => calledBack(failed), hasAtLeast(1));
      assert.deepEqual([calledBack(approved), calledBack(failed)], [['SUCCESSFUL'], ['FAILED']]);
    });

    it('cannot pay out more than the balance', async () => {
      const reference = await send('099', { amount: '10000000' });
      const { page } = await press('operator', { reference, choice: 'approve' });
      assert.match(page, /not paid \(NOT_ENOUGH_FUNDS\)/);
      assert.equal(await stateOf(reference), 'FAILED');
    });

    it('decides pending refunds', async () => {
      const original = await collect('010');
      await press('handset', { reference: original, choice: 'approve', pin: '1234' });
      const reference = await submit(client, 'refund', original);
      await sleep(TIMES.decisionMs + 40);
      assert.match((await show('operator')).page, /Refund UGX\u00a0500 to 256\u00a0772\u00a0123\u00a0010\?/);
      await press('operator', { reference, choice: 'approve' });
      assert.equal((await client.refundStatus(reference)).body?.['status'], 'SUCCESSFUL');
    });

    it('comes too late for a decided payout', async () => {
      const reference = await send('012');
      const { page } = await press('operator', { reference, choice: 'fail' });
      assert.match(page, /Too late/);
      assert.equal(await stateOf(reference), 'SUCCESSFUL');
    });
  });

  it('decides nothing on the wrong page, without a reference, or with an unknown choice', async () => {
    const [collection, transfer] = [await collect('099'), await send('099')];
    const wrong: ['handset' | 'operator', Record<string, string>][] = [
      ['handset', { reference: transfer, choice: 'approve', pin: '1234' }],
      ['operator', { reference: collection, choice: 'approve' }],
      ['handset', { reference: randomUUID(), choice: 'cancel' }],
      ['handset', { reference: collection, choice: 'steal', pin: '1234' }],
      ['handset', { choice: 'cancel' }],
      ['operator', {}],
    ];
    for (const [where, fields] of wrong) assert.equal((await press(where, fields)).status, 404, JSON.stringify(fields));
    assert.deepEqual([await stateOf(collection), await stateOf(transfer)], ['PENDING', 'PENDING']);
  });

  it('is protected against forms of another site in the same browser', async () => {
    const reference = await collect('099');
    for (const site of ['cross-site', 'same-site']) {
      const pressed = await press('handset', { reference, choice: 'cancel' }, { 'Sec-Fetch-Site': site });
      assert.equal(pressed.status, 403);
    }
    assert.equal(await stateOf(reference), 'PENDING');
    const own = await press('handset', { reference, choice: 'cancel' }, { 'Sec-Fetch-Site': 'same-origin' });
    assert.equal(own.status, 303);
  });

  it('gets pages whose one script is known, without external resources or unlabelled fields, and with all text escaped', async () => {
    // Notes take no markup.
    await collect('099', { externalId: '<script>alert(1)</script> & "more"' });
    await send('099', { externalId: '<img src=x>' });
    const pages: string[] = [];
    const paths = ['', 'handset', 'handset?phone=256772123099', 'handset?phone="><b>', 'operator', 'transactions'];
    for (const path of [...paths, 'transactions?phone="><b>']) {
      const answer = await fetch(`${sandbox.url}/sandbox/${path}`, { headers: { Accept: 'text/html' } });
      const whole = await answer.text();
      pages.push(whole);
      const policy = String(answer.headers.get('content-security-policy'));
      const page = whole.replace(/<script type="module">([^]*?)<\/script>/, (_, script: string) => {
        const digest = createHash('sha256').update(script).digest('base64');
        assert.ok(policy.includes(`script-src 'sha256-${digest}';`), path);
        return '';
      });
      assert.doesNotMatch(page, /<script|<img|<b>|https?:\/\//, path);
      assert.match(page, /<html lang="en">/);
      assert.match(page, /<h1>/);
      for (const [, id] of page.matchAll(/<input id="([^"]+)"/g)) assert.ok(page.includes(`<label for="${id}">`), id);
      assert.match(policy, /^default-src 'none'; style-src 'sha256-/);
      assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    }
    assert.match(pages.join(), /&#60;script&#62;alert\(1\)&#60;\/script&#62; &#38; &#34;more/);
  });
});
