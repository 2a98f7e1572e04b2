// The outcome table in Daraja's words: what queries, callbacks, results and status queries say, row by row.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  darajaClient,
  errorOf,
  newReference,
  parametersOf,
  PATHS,
  phoneOf,
  pushed,
  untilEnded,
} from './daraja-client.ts';
import { DARAJA, hasAtLeast, SHORT_TIMES, startTestSandbox, until, useSandbox } from './sandbox-harness.ts';
import { valuesOf } from '../support/values-of.ts';

type Result = Record<string, unknown>;
type Prompt = { readonly reference: string; readonly id: string; readonly address: string };

const ALL_DECIDED_MS = SHORT_TIMES.undecidedMs + 80;

describe('the outcome table in Daraja’s words', () => {
  const { sandbox, receiver } = useSandbox({ daraja: DARAJA });
  const client = darajaClient(sandbox, receiver);

  const bodiesAt = (address: string) =>
    receiver.callbacks.filter(({ path }) => path === new URL(address).pathname).map(({ body }) => body);
  const newAddress = () => `${receiver.url}/${randomUUID()}`;
  const refusedFirst = (body: Result | null) => body?.['errorCode'] !== undefined;

  describe('for prompts', () => {
    async function prompt(row: string): Promise<Prompt> {
      const [reference, address] = [newReference(), newAddress()];
      const fields = { AccountReference: reference, CallBackURL: address };
      const id = await pushed(client, row, fields);
      return { reference, id, address };
    }
    const codesCalledBack = ({ address }: Prompt) =>
      bodiesAt(address).map(({ Body }) => (Body as { stkCallback: Result }).stkCallback['ResultCode']);

    for (const [row, code, called] of [
      ['001', '1032', [1032]],
      ['002', '2001', [2001]],
      ['003', '1019', [1019]],
      ['004', '0', []],
      ['005', '1032', []],
      ['006', '1', [1]],
      ['007', '2028', [2028]],
      ['008', '0', [0, 0, 0]],
      ['009', '0', [0]],
      ['012', '0', [0]],
      ['013', '1032', [0]],
      ['019', '0', [0]],
      ['500', '0', [0]],
    ] as const) {
      it(`says ${code} of row ${row} to a query, and calls back ${called.length} times`, async () => {
        const own = await prompt(row);
        assert.equal((await untilEnded(client, own.id))['ResultCode'], code);
        await until(() => codesCalledBack(own), hasAtLeast(called.length));
        await sleep(called.length === 0 ? SHORT_TIMES.decisionMs * 2 : 0);
        assert.deepEqual(codesCalledBack(own), called);
      });
    }

    it('leave row 010 in progress for ever', async () => {
      const own = await prompt('010');
      await sleep(ALL_DECIDED_MS);
      assert.equal((await client.query(own.id)).body?.['ResultCode'], '4999');
      assert.deepEqual(codesCalledBack(own), []);
    });

    it('call row 012 back before the answer to the request, in which its id first comes', async () => {
      const own = await prompt('012');
      assert.deepEqual(codesCalledBack(own), [0]);
    });

    it('say of row 015 that it was paid, and send nothing more when it is returned', async () => {
      const own = await prompt('015');
      await until(
        () => client.seen(own.reference),
        ([seen]) => seen?.['givenBackAt'] !== null,
      );
      assert.equal((await client.query(own.id)).body?.['ResultCode'], '0');
      await until(() => codesCalledBack(own), hasAtLeast(1));
      assert.deepEqual(codesCalledBack(own), [0]);
    });

    for (const row of ['014', '018']) {
      it(`cut the connection of row ${row}, so that nobody knows its id`, async () => {
        const [AccountReference, CallBackURL] = [newReference(), newAddress()];
        const fields = { AccountReference, CallBackURL, PartyA: phoneOf(row), PhoneNumber: phoneOf(row) };
        await assert.rejects(client.push(fields));
        await until(
          () => client.seen(AccountReference),
          ([seen]) => seen?.['state'] === 'SUCCESSFUL',
        );
        const [rows] = (await client.pull()).body?.['Response'] as { billreference: string }[][];
        assert.equal(rows?.filter(({ billreference }) => billreference === AccountReference).length, 1);
        await until(
          () => client.seen(AccountReference),
          ([seen]) => seen?.['callbacksSent'] === (row === '014' ? 1 : 0),
        );
        assert.equal(bodiesAt(CallBackURL).length, row === '014' ? 1 : 0);
      });
    }

    for (const [row, times, status, code] of [
      ['011', 3, 503, '500.003.1001'],
      ['016', 1, 500, '500.003.02'],
      ['017', 1, 404, '404.001.03'],
      ['022', 6, 401, '401.003.01'],
    ] as const) {
      it(`refuse row ${row} ${times} times with ${code}, and raise one prompt then`, async () => {
        const fields = { AccountReference: newReference(), PartyA: phoneOf(row), PhoneNumber: phoneOf(row) };
        for (let count = 0; count < times; count++) {
          assert.deepEqual(errorOf(await client.push(fields)).slice(0, 2), [status, code]);
        }
        const { body } = await client.push(fields);
        assert.equal((await untilEnded(client, String(body?.['CheckoutRequestID'])))['ResultCode'], '0');
        const seen = await client.seen(fields.AccountReference);
        assert.deepEqual(valuesOf(seen as { promptsRaised: unknown }[], 'promptsRaised'), [1]);
        assert.equal(seen[0]?.['requestsReceived'], times + 1);
      });
    }

    it('raise the prompt of row 023 at the first request, whose answer has no id that can be read', async () => {
      const [AccountReference, CallBackURL] = [newReference(), newAddress()];
      const { body } = await client.push({
        ...{ AccountReference, CallBackURL },
        ...{ PartyA: phoneOf('023'), PhoneNumber: phoneOf('023') },
      });
      assert.equal(body?.['CheckoutRequestID'], 7);
      const [seen] = await until(
        () => client.seen(AccountReference),
        ([one]) => one?.['state'] === 'SUCCESSFUL',
      );
      assert.equal(seen?.['promptsRaised'], 1);
      const id = String(seen['operatorReference']).replace(/^ws_co_/, 'ws_CO_');
      const codes: unknown[] = [];
      for (let turn = 0; turn < 5; turn++) {
        const answer = await client.query(id).catch(() => null);
        codes.push(answer === null ? 'unreadable' : answer.body?.['ResultCode']);
      }
      assert.deepEqual(codes, [{}, undefined, 'unreadable', 'unreadable', '0']);
    });

    it('show M-Pesa’s own prompt on the handset, with amount and account, which a payer answers', async () => {
      const own = await prompt('099');
      const page = await (await fetch(`${sandbox.url}/sandbox/handset?phone=${phoneOf('099')}`)).text();
      assert.ok(page.includes(`M-PESA: pay KES\u00a0500 to account ${own.reference}? Enter your PIN`));
      const body = new URLSearchParams({ reference: own.id.toLowerCase(), choice: 'wrong_pin' });
      await fetch(`${sandbox.url}/sandbox/handset`, { method: 'POST', body });
      assert.equal((await untilEnded(client, own.id))['ResultCode'], '2001');
      await until(() => codesCalledBack(own), hasAtLeast(1));
      assert.deepEqual(codesCalledBack(own), [2001]);
    });
  });

  describe('for payouts', () => {
    async function pay(row: string) {
      const [id, address] = [randomUUID(), newAddress()];
      const addresses = { ResultURL: address, QueueTimeOutURL: `${address}-timeout` };
      const fields = { OriginatorConversationID: id, PartyB: phoneOf(row), ...addresses };
      for (;;) {
        const answer = await client.pay(fields).catch(() => null);
        if (answer === null || !refusedFirst(answer.body)) return { id, address };
      }
    }
    const codesAt = (address: string) =>
      bodiesAt(address).map(({ Result: result }) => (result as Result)['ResultCode']);
    /** The answer to a status query, which comes to an address of its own. */
    async function statusOf(id: string): Promise<Result> {
      const address = newAddress();
      await client.ask(PATHS.status, {
        ...{ CommandID: 'TransactionStatusQuery', OriginalConversationID: id, ResultURL: address },
        ...{ PartyA: DARAJA.payoutShortcode, IdentifierType: '4' },
      });
      const [body] = await until(() => bodiesAt(address), hasAtLeast(1));
      const result = body?.['Result'] as Result;
      return { code: result['ResultCode'], ...Object.fromEntries(parametersOf(result)) };
    }
    const untilStatus = (id: string, status: string) =>
      until(
        () => statusOf(id),
        (said) => said['TransactionStatus'] === status,
      );

    for (const [row, status, called] of [
      ['001', 'Failed', [2040]],
      ['002', 'Failed', [8]],
      ['003', 'Failed', [1]],
      ['004', 'Completed', []],
      ['005', 'Failed', []],
      ['006', 'Failed', ['SFC_IC0003']],
      ['008', 'Completed', [0, 0, 0]],
      ['009', 'Completed', [0]],
      ['010', 'Pending', []],
      ['011', 'Completed', [0]],
      ['012', 'Completed', [0]],
      ['013', 'Failed', [0]],
      ['014', 'Completed', [0]],
      ['015', 'Reversed', [0]],
      ['016', 'Completed', [0]],
      ['017', 'Completed', [0]],
      ['018', 'Completed', []],
      ['019', 'Completed', [0]],
      ['099', 'Pending', []],
      ['500', 'Completed', [0]],
    ] as const) {
      it(`send ${called.length} results of row ${row}, and ${status} to a status query`, async () => {
        const { id, address } = await pay(row);
        assert.equal((await untilStatus(id, status))['TransactionStatus'], status);
        await until(() => codesAt(address), hasAtLeast(called.length));
        assert.deepEqual(codesAt(address), called);
        assert.equal((await client.seen(id))[0]?.['transfersTaken'], 1);
      });
    }

    it('say of rows 009 and 010 first that they wait for too long, at the address for that, which is no verdict', async () => {
      for (const row of ['009', '010']) {
        const { id, address } = await pay(row);
        const [said] = await until(() => bodiesAt(`${address}-timeout`), hasAtLeast(1));
        const result = said?.['Result'] as Result;
        assert.deepEqual([result['ResultType'], result['OriginatorConversationID']], [1, id]);
        if (row === '010') assert.equal((await statusOf(id))['TransactionStatus'], 'Pending');
        else await untilStatus(id, 'Completed');
        await until(() => codesAt(address), hasAtLeast(row === '009' ? 1 : 0));
        const paths = receiver.callbacks.map(({ path }) => receiver.url.replace(/\/callbacks$/, path));
        const own = paths.filter((path) => path.startsWith(address));
        assert.deepEqual(own, row === '009' ? [`${address}-timeout`, address] : [`${address}-timeout`]);
      }
    });

    it('know nothing of row 019 at the first two status queries', async () => {
      const { id } = await pay('019');
      assert.deepEqual([(await statusOf(id))['code'], (await statusOf(id))['code']], [25, 25]);
      assert.equal((await statusOf(id))['code'], 0);
    });
  });

  it('outlives a restart: prompts and payouts are decided at their time, and none is taken twice', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'malipo-sandbox-'));
    const start = (undecidedMs: number) =>
      startTestSandbox({
        daraja: DARAJA,
        dataFile: join(folder, 'sandbox.jsonl'),
        times: { ...SHORT_TIMES, undecidedMs },
      });
    const running = await start(1500);
    const at = { url: running.url };
    const own = darajaClient(at, receiver);
    const [reference, payoutId, address] = [newReference(), randomUUID(), newAddress()];
    const id = await pushed(own, '009', { AccountReference: reference, CallBackURL: address });
    const payout = {
      OriginatorConversationID: payoutId,
      PartyB: phoneOf('009'),
      QueueTimeOutURL: `${address}-timeout`,
    };
    await own.pay({ ...payout, ResultURL: `${address}-result` });
    await until(() => bodiesAt(`${address}-timeout`), hasAtLeast(1));
    await running.stop();
    const again = await start(60_000);
    try {
      at.url = again.url;
      assert.equal((await darajaClient(at, receiver).query(id)).body?.['ResultCode'], '4999');
      const next = darajaClient(at, receiver);
      assert.equal(errorOf(await next.pay(payout))[1], '500.002.1001');
      assert.equal((await untilEnded(next, id))['ResultCode'], '0');
      await until(() => bodiesAt(`${address}-result`), hasAtLeast(1));
      await until(() => bodiesAt(address), hasAtLeast(1));
      assert.equal(bodiesAt(`${address}-timeout`).length, 1);
      assert.deepEqual(valuesOf((await next.seen(reference)) as { promptsRaised: unknown }[], 'promptsRaised'), [1]);
    } finally {
      await again.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
