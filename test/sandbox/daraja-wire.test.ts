// The sandbox operator's Daraja API: access, the form of requests and answers, and what is refused.
import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID, X509Certificate } from 'node:crypto';
import { request } from 'undici';
import {
  darajaClient,
  errorOf,
  nairobi,
  newReference,
  parametersOf,
  PATHS,
  phoneOf,
  pushed,
  untilEnded,
} from './daraja-client.ts';
import {
  DARAJA,
  hasAtLeast,
  startTestSandbox,
  until,
  useSandbox,
  withReceiver,
  withSandbox,
} from './sandbox-harness.ts';
import { valuesOf } from '../support/values-of.ts';

type Result = Record<string, unknown>;

const RECEIPT = /^U[A-L][1-9A-V][0-9A-Z]{7}$/;
const DONE = 'The service request is processed successfully.';

describe("the sandbox operator's Daraja API", () => {
  const { sandbox, receiver } = useSandbox({ daraja: DARAJA });
  const client = darajaClient(sandbox, receiver);

  const refusedFields = async (
    send: (fields: Record<string, unknown>) => Promise<unknown[]>,
    wrong: [string, unknown][],
  ) => {
    for (const [field, value] of wrong) {
      const expected = [400, '400.002.02', `Bad Request - Invalid ${field}`];
      assert.deepEqual(await send({ [field]: value }), expected, `${field}: ${String(value)}`);
    }
  };
  const resultsAt = (path: string) =>
    receiver.callbacks.filter((callback) => callback.path.endsWith(path)).map(({ body }) => body['Result'] as Result);
  const untilResult = async (path: string) => (await until(() => resultsAt(path), hasAtLeast(1)))[0]!;
  /** Asks, and returns the answer that comes later to an address of its own. */
  async function answerTo(path: string, fields: Record<string, unknown>): Promise<Result> {
    const address = `/${randomUUID()}`;
    const { status, body } = await client.ask(path, { ResultURL: receiver.url + address, ...fields });
    assert.deepEqual([status, body?.['ResponseCode']], [200, '0'], JSON.stringify(body));
    const result = await untilResult(address);
    assert.equal(result['ConversationID'], body?.['ConversationID']);
    assert.equal(result['OriginatorConversationID'], body?.['OriginatorConversationID']);
    return result;
  }
  async function paidPrompt(fields: Record<string, unknown> = {}): Promise<string> {
    const address = `/${randomUUID()}`;
    await untilEnded(client, await pushed(client, '500', { CallBackURL: receiver.url + address, ...fields }));
    const [callback] = await until(
      () => receiver.callbacks.filter(({ path }) => path.endsWith(address)),
      hasAtLeast(1),
    );
    const { stkCallback } = callback?.body['Body'] as {
      stkCallback: { CallbackMetadata: { Item: { Value?: unknown }[] } };
    };
    return String(stkCallback.CallbackMetadata.Item[1]?.Value);
  }
  async function paidOut(fields: Record<string, unknown> = {}): Promise<{ id: string; result: Result }> {
    const id = randomUUID();
    const { body } = await client.pay({ OriginatorConversationID: id, ResultURL: `${receiver.url}/${id}`, ...fields });
    assert.equal(body?.['ResponseCode'], '0', JSON.stringify(body));
    return { id, result: await untilResult(`/${id}`) };
  }

  describe('gives a token', () => {
    it('for an hour to those who know the secret, its life as a text', async () => {
      const { body } = await client.token();
      assert.equal(body?.['expires_in'], '3599');
      assert.deepEqual(errorOf(await client.token('grant_type=other')).slice(0, 2), [400, '400.008.02']);
      const wrong = `Basic ${Buffer.from('a:b').toString('base64')}`;
      assert.deepEqual(errorOf(await client.token(undefined, wrong)).slice(0, 2), [400, '400.008.01']);
    });

    it('that ends the one before', async () => {
      await withSandbox({ daraja: DARAJA }, async (_mtn, own) => {
        const other = darajaClient(own, receiver);
        await pushed(other, '500');
        await other.token();
        assert.deepEqual(errorOf(await other.push()), [404, '404.001.03', 'Invalid Access Token']);
        await pushed(other, '500');
      });
    });

    it('without which it takes nothing', async () => {
      for (const path of Object.values(PATHS)) {
        assert.equal(errorOf(await client.post(path, {}, 'Bearer wrong'))[1], '404.001.03', path);
      }
    });
  });

  describe('prompts', () => {
    it('a phone, and says of it what Daraja would: in the query as text, without amount and receipt', async () => {
      const reference = newReference();
      const pushedBody = (await client.push({ AccountReference: reference })).body;
      const { MerchantRequestID, CheckoutRequestID } = pushedBody as Record<string, string>;
      assert.match(CheckoutRequestID!, /^ws_CO_\d{17}712345500$/);
      const text = 'Success. Request accepted for processing';
      const said = { ResponseCode: '0', ResponseDescription: text, CustomerMessage: text };
      assert.deepEqual(pushedBody, { MerchantRequestID, CheckoutRequestID, ...said });
      assert.deepEqual(await untilEnded(client, CheckoutRequestID!), {
        ResponseCode: '0',
        ResponseDescription: 'The service request has been accepted successfully',
        MerchantRequestID,
        CheckoutRequestID,
        ResultCode: '0',
        ResultDesc: DONE,
      });
    });

    it('and calls back with amount, receipt, time and phone by their names', async () => {
      const address = `/${randomUUID()}`;
      const id = await pushed(client, '500', { CallBackURL: receiver.url + address, Amount: '1200' });
      const calls = () => receiver.callbacks.filter(({ path }) => path.endsWith(address));
      const [call] = await until(calls, hasAtLeast(1));
      const { stkCallback } = call?.body['Body'] as { stkCallback: Record<string, unknown> };
      assert.deepEqual([stkCallback['CheckoutRequestID'], stkCallback['ResultCode']], [id, 0]);
      const { Item: items } = stkCallback['CallbackMetadata'] as { Item: { Name: string; Value?: unknown }[] };
      const values = Object.fromEntries(items.map(({ Name, Value }) => [Name, Value]));
      assert.deepEqual([values['Amount'], values['PhoneNumber']], [1200, 254_712_345_500]);
      assert.match(String(values['MpesaReceiptNumber']), RECEIPT);
      assert.match(String(values['TransactionDate']), /^20\d{12}$/);
      assert.deepEqual(Object.keys(items[2] ?? {}), ['Name']);
    });

    it('twice for the same reference, and both can be paid', async () => {
      const AccountReference = newReference();
      const ids = [
        await pushed(client, '500', { AccountReference }),
        await pushed(client, '500', { AccountReference }),
      ];
      for (const id of ids) assert.equal((await untilEnded(client, id))['ResultCode'], '0');
      const seen = await client.seen(AccountReference);
      assert.deepEqual(valuesOf(seen, 'issuedId'), ids.toReversed());
      assert.deepEqual(valuesOf(seen, 'promptsRaised'), [1, 1]);
      const { body } = await client.pull();
      const [rows] = body?.['Response'] as { billreference: string }[][];
      assert.equal(rows?.filter(({ billreference }) => billreference === AccountReference).length, 2);
    });

    it('nobody at a query: one of an unknown prompt is told what one is that is under way', async () => {
      assert.deepEqual(errorOf(await client.query('ws_CO_0')).slice(0, 2), [500, '500.001.1001']);
      const waiting = await pushed(client, '099');
      assert.equal((await client.query(waiting)).body?.['ResultCode'], '4999');
    });

    it('nobody for the wrong shortcode or password', async () => {
      const other = { BusinessShortCode: '174380', PartyB: '174380' };
      assert.deepEqual(errorOf(await client.push(other)), [500, '500.001.1001', 'Merchant does not exist']);
      for (const wrong of [{ Password: 'AAAA' }, { Timestamp: '20261127101531' }]) {
        assert.match(String(errorOf(await client.push(wrong))[2]), /Wrong credentials/);
        assert.match(String(errorOf(await client.query('ws_CO_0', wrong))[2]), /Wrong credentials/);
      }
    });

    it('nobody for what is written otherwise than Daraja’s documents say', async () => {
      await refusedFields(
        async (fields) => errorOf(await client.push(fields)),
        [
          ['Amount', '10.50'],
          ['Amount', 0],
          ['Amount', 250_001],
          ['PhoneNumber', '0712345500'],
          ['PhoneNumber', '256712345500'],
          ['PartyA', phoneOf('501')],
          ['PartyB', '600000'],
          ['Timestamp', '2026-11-27'],
          ['Timestamp', '20261332101530'],
          ['TransactionType', 'CustomerPayBill'],
          ['AccountReference', ''],
          ['CallBackURL', 'ftp://example.com/'],
        ],
      );
      assert.deepEqual(errorOf(await client.post(PATHS.push, '[')), [400, '400.002.05', 'Invalid Request Payload']);
    });

    it('nobody where the address to call back has a forbidden word', async () => {
      for (const word of ['mpesa', 'M-Pesa', 'safaricom', 'exe', 'EXEC', 'cmd', 'Sql', 'query']) {
        await refusedFields(
          async (fields) => errorOf(await client.push(fields)),
          [['CallBackURL', `https://example.com/${word}/1`]],
        );
      }
    });

    it('nobody, though it takes the request, where reference or description is too long for a phone', async () => {
      for (const long of [{ AccountReference: 'A234567890123' }, { TransactionDesc: 'Order 17 of us' }]) {
        const id = await pushed(client, '500', long);
        assert.equal((await untilEnded(client, id))['ResultCode'], '1025');
        assert.equal((await client.seen(id))[0]?.['promptsRaised'], 0);
      }
    });
  });

  describe('pays out', () => {
    it('and sends the result: receipt, name of the payee and balances by their keys', async () => {
      const { id, result } = await paidOut({ Amount: 750 });
      assert.deepEqual([result['ResultType'], result['ResultCode'], result['ResultDesc']], [0, 0, DONE]);
      assert.equal(result['OriginatorConversationID'], id);
      assert.match(String(result['ConversationID']), /^AG_20\d{6}_[0-9a-f]{20}$/);
      const values = Object.fromEntries(parametersOf(result));
      assert.equal(values['TransactionAmount'], 750);
      assert.equal(values['TransactionReceipt'], result['TransactionID']);
      assert.match(String(values['TransactionReceipt']), RECEIPT);
      assert.match(String(values['ReceiverPartyPublicName']), /^254712345500 - [A-Z]+ [A-Z]+$/);
      assert.match(String(values['TransactionCompletedDateTime']), /^\d\d\.\d\d\.\d{4} \d\d:\d\d:\d\d$/);
      assert.equal(typeof values['B2CUtilityAccountAvailableFunds'], 'number');
    });

    it('once: the same id again is refused', async () => {
      const { id } = await paidOut();
      const again = await client.pay({ OriginatorConversationID: id });
      assert.deepEqual(errorOf(again), [500, '500.002.1001', 'Duplicate OriginatorConversationID.']);
      const [seen] = await client.seen(id);
      assert.deepEqual([seen?.['requestsReceived'], seen?.['transfersTaken']], [2, 1]);
    });

    it('nothing without the initiator and its password, encrypted for the operator', async () => {
      const wrong = [
        { InitiatorName: 'other' },
        { SecurityCredential: await client.credential('other') },
        { SecurityCredential: Buffer.from(DARAJA.initiatorPassword).toString('base64') },
      ];
      for (const fields of wrong) {
        const { id, result } = await paidOut(fields);
        assert.deepEqual([result['ResultCode'], parametersOf(result)], [2001, []]);
        assert.equal((await client.seen(id))[0]?.['state'], 'FAILED');
      }
    });

    it('nothing below or above its bounds', async () => {
      assert.equal((await paidOut({ Amount: 9 })).result['ResultCode'], 2);
      assert.equal((await paidOut({ Amount: 250_001 })).result['ResultCode'], 3);
    });

    it('nothing for what is written otherwise than Daraja’s documents say', async () => {
      await refusedFields(
        async (fields) => errorOf(await client.pay(fields)),
        [
          ['Amount', '10.5'],
          ['PartyA', DARAJA.shortcode],
          ['PartyB', '712345500'],
          ['CommandID', 'Other'],
          ['Remarks', 'x'.repeat(101)],
          ['Remarks', ''],
          ['Occassion', 'x'.repeat(101)],
          ['ResultURL', 'https://example.com/query'],
          ['QueueTimeOutURL', 'https://mpesa.example.com/'],
          ['OriginatorConversationID', ''],
        ],
      );
    });

    it('with a certificate that is signed by its own key, the same again for the same key', async () => {
      const read = async (url: string) => (await request(`${url}/sandbox/daraja/certificate`)).body.text();
      const certificate = new X509Certificate(await read(sandbox.url));
      assert.ok(certificate.verify(certificate.publicKey));
      assert.ok(Date.parse(certificate.validTo) > Date.now());
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      const daraja = { ...DARAJA, privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }) as string };
      const texts: string[] = [];
      for (let count = 0; count < 2; count++) {
        const own = await startTestSandbox({ daraja });
        texts.push(await read(own.url));
        await own.stop();
      }
      assert.equal(texts[0], texts[1]);
      assert.ok(new X509Certificate(texts[0]!).checkPrivateKey(privateKey));
    });
  });

  describe('answers later', () => {
    const party = { PartyA: DARAJA.payoutShortcode, IdentifierType: '4' };
    const statusOf = (fields: Record<string, unknown>) =>
      answerTo(PATHS.status, { CommandID: 'TransactionStatusQuery', ...party, ...fields });

    it('what became of a payout, by our id: some keys twice, some with spaces, some without a value', async () => {
      const { id, result: paid } = await paidOut({ Amount: 300 });
      const result = await statusOf({ OriginalConversationID: id });
      assert.equal(result['ResultCode'], 0);
      const pairs = parametersOf(result);
      assert.equal(pairs.filter(([key]) => key === 'DebitPartyName').length, 2);
      const values = Object.fromEntries(pairs);
      assert.equal(values['Originator Conversation ID'], id);
      assert.deepEqual([values['TransactionStatus'], values['Amount']], ['Completed', 300]);
      assert.equal(values['ReceiptNo'], paid['TransactionID']);
      assert.equal(values['DebitPartyCharges'], 'Fee For B2C Payment|KES|22.40');
      assert.ok('TransactionReason' in values && values['TransactionReason'] === undefined);
    });

    it('what became of a payment, by its receipt', async () => {
      const values = Object.fromEntries(
        parametersOf(await statusOf({ TransactionID: await paidPrompt({ Amount: 70 }) })),
      );
      assert.deepEqual([values['TransactionStatus'], values['Amount']], ['Completed', 70]);
    });

    it('that a question about what does not exist is wrong', async () => {
      for (const unknown of [{ OriginalConversationID: randomUUID() }, { TransactionID: 'UAA0000000' }]) {
        const result = await statusOf(unknown);
        assert.deepEqual([result['ResultCode'], parametersOf(result)], [25, []]);
      }
    });

    it('the balance of each account', async () => {
      const { result: paid } = await paidOut();
      const result = await answerTo(PATHS.balance, { CommandID: 'AccountBalance', ...party });
      const [[key, value] = []] = parametersOf(result);
      assert.equal(key, 'AccountBalance');
      const utility = String(value)
        .split('&')
        .find((account) => account.startsWith('Utility Account|KES|'));
      const before = Object.fromEntries(parametersOf(paid))['B2CUtilityAccountAvailableFunds'];
      assert.ok(Math.abs(Number(utility?.split('|')[2]) - Number(before)) < 10_000);
    });

    it('that it reversed a payment, once, and that it reverses no part of it', async () => {
      const receipt = await paidPrompt({ Amount: 80 });
      const reverse = (Amount: number) =>
        answerTo(PATHS.reversal, {
          ...{ CommandID: 'TransactionReversal', TransactionID: receipt, Amount },
          ...{ ReceiverParty: DARAJA.shortcode, RecieverIdentifierType: '11' },
        });
      assert.equal((await reverse(79))['ResultCode'], 'R000002');
      assert.equal((await reverse(80))['ResultCode'], 0);
      assert.equal((await reverse(80))['ResultCode'], 'R000001');
      const values = Object.fromEntries(parametersOf(await statusOf({ TransactionID: receipt })));
      assert.equal(values['TransactionStatus'], 'Reversed');
    });

    it('that it does nothing for another initiator', async () => {
      const SecurityCredential = await client.credential('other');
      assert.equal((await statusOf({ TransactionID: 'UAA0000000', SecurityCredential }))['ResultCode'], 2001);
    });

    it('nothing to what is written otherwise than Daraja’s documents say', async () => {
      const whole = { CommandID: 'TransactionStatusQuery', TransactionID: 'UAA0000000', ...party };
      await refusedFields(
        async (fields) => errorOf(await client.ask(PATHS.status, { ...whole, ...fields })),
        [
          ['CommandID', 'AccountBalance'],
          ['TransactionID', ''],
          ['PartyA', '600000'],
          ['IdentifierType', '9'],
          ['Remarks', ''],
          ['ResultURL', 'https://example.com/query/1'],
        ],
      );
    });

    it('once, also where the receiver fails', async () => {
      await withReceiver({ status: 500 }, async (failing) => {
        const fields = { CommandID: 'AccountBalance', ...party, ResultURL: failing.url };
        await client.ask(PATHS.balance, fields);
        await until(() => failing.callbacks, hasAtLeast(1));
        // Whatever it would repeat would come before the answers to later questions do.
        for (let count = 0; count < 3; count++)
          await answerTo(PATHS.balance, { CommandID: 'AccountBalance', ...party });
        assert.equal(failing.callbacks.length, 1);
      });
    });
  });

  describe('looks up', () => {
    const lookUp = (msisdn: string) =>
      client.post(PATHS.name, {
        header: { requestID: 'r-1', timestamp: '1748933384' },
        body: { msisdn, shortcode: DARAJA.payoutShortcode },
      });

    it('the name of a phone: the first clear, the others masked', async () => {
      const { body } = await lookUp(phoneOf('500'));
      const { header, body: name } = body as { header: Record<string, string>; body: Record<string, string> };
      assert.deepEqual([header['requestID'], header['status']], ['r-1', '200']);
      assert.match(name['firstName']!, /^[A-Z]+$/);
      assert.match(name['lastName']!, /^[A-Z]\*{6}$/);
    });

    it('no name where there is no account', async () => {
      const { status, body } = await lookUp(phoneOf('001'));
      assert.deepEqual([status, (body as { header: { status: string } }).header.status], [200, '400']);
    });
  });

  describe('lists what was paid', () => {
    type Page = { ResponseCode: string; Response: Record<string, unknown>[][] };

    it('in a nested array, page by page: the offset counts rows', async () => {
      await withSandbox({ daraja: DARAJA, limits: { pullRows: 2 } }, async (_mtn, own) => {
        const other = darajaClient(own, receiver);
        const references = [newReference(), newReference(), newReference()];
        for (const AccountReference of references)
          await untilEnded(other, await pushed(other, '500', { AccountReference }));
        await untilEnded(other, await pushed(other, '001'));
        const page = async (OffSetValue: number) => (await other.pull({ OffSetValue })).body as unknown as Page;
        const [first, second, third] = [await page(0), await page(2), await page(3)];
        assert.deepEqual([first.ResponseCode, second.ResponseCode, third.ResponseCode], ['1000', '1000', '1001']);
        assert.deepEqual(third.Response, [[]]);
        const rows = [...first.Response[0]!, ...second.Response[0]!];
        assert.deepEqual(valuesOf(rows as { billreference: unknown }[], 'billreference'), references);
        assert.match(String(rows[0]?.['transactionId']), RECEIPT);
        assert.deepEqual([rows[0]?.['amount'], rows[0]?.['msisdn']], ['500.00', 254_712_345_500]);
      });
    });

    it('within the time that it is asked for', async () => {
      await paidPrompt();
      const past = { StartDate: nairobi(Date.now() - 7_200_000), EndDate: nairobi(Date.now() - 3_600_000) };
      assert.equal((await client.pull(past)).body?.['ResponseCode'], '1001');
      await refusedFields(
        async (fields) => errorOf(await client.pull(fields)),
        [
          ['StartDate', 'yesterday'],
          ['ShortCode', '600000'],
          ['OffSetValue', '-1'],
        ],
      );
    });
  });
});
