// What the sandbox operator's Daraja API says later, or of payments that ended: status, balance, reversal, names, and Pull.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  darajaClient,
  darajaResults,
  nairobi,
  newReference,
  parametersOf,
  PATHS,
  phoneOf,
  pushed,
  RECEIPT,
  refusedFields,
  untilEnded,
} from './daraja-client.ts';
import { DARAJA, hasAtLeast, until, useSandbox, withReceiver, withSandbox } from './sandbox-harness.ts';
import { valuesOf } from '../support/values-of.ts';

describe("the sandbox operator's Daraja API", () => {
  const { sandbox, receiver } = useSandbox({ daraja: DARAJA });
  const client = darajaClient(sandbox, receiver);
  const { answerTo, paidPrompt, paidOut } = darajaResults(client, receiver);

  describe('answers later', () => {
    const party = { PartyA: DARAJA.payoutShortcode, IdentifierType: '4' };
    const statusOf = (fields: Record<string, unknown>) =>
      answerTo(PATHS.status, { CommandID: 'TransactionStatusQuery', ...party, ...fields });

    it('the outcome of a payout, by our id: some keys twice, some with spaces, some without a value', async () => {
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

    it('the outcome of a payment, by its receipt', async () => {
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
        (fields) => client.ask(PATHS.status, { ...whole, ...fields }),
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
        (fields) => client.pull(fields),
        [
          ['StartDate', 'yesterday'],
          ['ShortCode', '600000'],
          ['OffSetValue', '-1'],
        ],
      );
    });
  });
});
