// The MTN MoMo adapter's query of a name: the request, and what each response says.
import assert from 'node:assert/strict';
import type { NameOutcome } from '../../../src/operators/port.ts';
import { json, raw } from '../stub-operator.ts';
import { errorOf, itMaps, unknown, useMtnWire, type Case } from './wire-harness.ts';

const named = (name: string): NameOutcome => ({ kind: 'named', name });
const UNNAMED: NameOutcome = { kind: 'unnamed' };

const CASES: readonly Case<NameOutcome>[] = [
  ['both names', json(200, { given_name: 'JANE', family_name: 'NAKATO' }), named('JANE NAKATO')],
  ['one of the names', json(200, { family_name: ' NAKATO  ' }), named('NAKATO')],
  ['the one name of older markets', json(200, { name: 'JANE NAKATO' }), named('JANE NAKATO')],
  ['a name of two lines', json(200, { name: 'JANE\nNAKATO' }), named('JANE NAKATO')],
  ['a name that is far too long', json(200, { name: 'J'.repeat(5000) }), named('J'.repeat(200))],
  ['empty names', json(200, { given_name: '', family_name: '' }), UNNAMED],
  ['no names', json(200, {}), UNNAMED],
  ['an unknown account holder', errorOf(404, 'RESOURCE_NOT_FOUND'), UNNAMED],
  [
    'a name in characters that turn the text around',
    json(200, { name: 'JANE\u202e' }),
    unknown('a name that cannot be shown'),
  ],
  ['names that are no texts', json(200, { given_name: 7 }), unknown('http 200, no user info')],
  ['a 404 of a proxy', raw(404, '<html></html>'), unknown('http 404 without JSON')],
  ['an error', errorOf(500, 'INTERNAL_PROCESSING_ERROR'), unknown('http 500, no user info')],
  ['a refusal of our account', errorOf(403, 'NOT_ALLOWED'), unknown('http 403, no user info')],
];

describe("the MTN adapter's query of a payee's name", () => {
  const wire = useMtnWire();
  const ask = () => wire.operator.getPayeeName!('256772000500');

  it('goes to the account holder of the disbursement product', async () => {
    await wire.reply(json(200, { name: 'JANE NAKATO' }));
    await ask();
    const request = wire.stub.received.at(-1)!;
    assert.equal(
      `${request.method} ${request.path}`,
      'GET /disbursement/v1_0/accountholder/msisdn/256772000500/basicuserinfo',
    );
  });

  itMaps(wire, CASES, ask);
});
