// The sandbox operator's Daraja API: access, the form of requests and answers, and what is refused.
import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID, X509Certificate } from 'node:crypto';
import { request } from 'undici';
import {
  darajaClient,
  darajaResults,
  errorOf,
  itemsOf,
  newReference,
  parametersOf,
  PATHS,
  phoneOf,
  pushed,
  RECEIPT,
  refusedFields,
  untilEnded,
} from './daraja-client.ts';
import { DARAJA, startTestSandbox, useSandbox, withSandbox } from './sandbox-harness.ts';
import { valuesOf } from '../support/values-of.ts';

const DONE = 'The service request is processed successfully.';

describe("the sandbox operator's Daraja API", () => {
  const { sandbox, receiver } = useSandbox({ daraja: DARAJA });
  const client = darajaClient(sandbox, receiver);

  const { untilPrompt, paidOut } = darajaResults(client, receiver);

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

    it('that counts no more once a request at row 017 was refused for it', async () => {
      const bearer = `Bearer ${String((await client.token()).body?.['access_token'])}`;
      const query = () => client.post(PATHS.query, {}, bearer);
      assert.equal(errorOf(await query())[1], '400.002.02');
      const phone = phoneOf('017');
      assert.equal(errorOf(await client.push({ PartyA: phone, PhoneNumber: phone }, bearer))[1], '404.001.03');
      assert.equal(errorOf(await query())[1], '404.001.03');
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
      const stkCallback = await untilPrompt(address);
      assert.deepEqual([stkCallback['CheckoutRequestID'], stkCallback['ResultCode']], [id, 0]);
      const values = itemsOf(stkCallback['CallbackMetadata']);
      assert.deepEqual([values['Amount'], values['PhoneNumber']], [1200, 254_712_345_500]);
      assert.match(String(values['MpesaReceiptNumber']), RECEIPT);
      assert.match(String(values['TransactionDate']), /^20\d{12}$/);
      assert.ok('Balance' in values && values['Balance'] === undefined);
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

    it('nobody at a query: one of an unknown prompt is told what one is that is in progress', async () => {
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
        (fields) => client.push(fields),
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
        await refusedFields((fields) => client.push(fields), [['CallBackURL', `https://example.com/${word}/1`]]);
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
        (fields) => client.pay(fields),
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
});
