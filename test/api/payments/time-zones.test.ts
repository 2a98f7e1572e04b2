// The time zones that the overview and the totals of days take.
import assert from 'node:assert/strict';
import { makeCollection } from '../../db/rows.ts';
import { IANA_TIME_ZONES, NO_TIME_ZONES } from '../../domain/time-zone-names.ts';
import { addPerson, logIn } from '../../support/people.ts';
import type { Browser } from '../../support/browser.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { API_ONLY, assertError } from '../responses.ts';

const PATHS = ['/v1/console/overview', '/v1/console/totals'] as const;

describe('the time zone of a request', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  let viewer: Browser;

  before(async () => {
    viewer = await logIn(testEnv, await addPerson(testEnv, testEnv.merchant.id, ['viewer']));
    await makeCollection(testEnv.db, testEnv.merchant.id, 'succeeded');
  });

  for (const path of PATHS) {
    const read = (zone: string) => viewer.call('GET', `${path}?${new URLSearchParams({ time_zone: zone }).toString()}`);

    it(`is any name of the IANA, of today and of the past, for ${path}`, async () => {
      for (const zone of IANA_TIME_ZONES) {
        const { status, json, text } = await read(zone);
        assert.equal(status, 200, `${zone}: ${text}`);
        assert.equal(json['time_zone'], zone);
      }
    });

    it(`is refused by ${path} when it is no such name`, async () => {
      for (const zone of NO_TIME_ZONES) {
        assert.equal(assertError(await read(zone), 'parameter_invalid').param, 'time_zone', zone);
      }
    });
  }

  it('may come with any day from the first year to the last', async () => {
    for (const day of ['0000-01-01', '0001-01-01', '1900-01-01', '9999-12-31']) {
      const { status, text } = await viewer.call('GET', `${PATHS[1]}?from=${day}&to=${day}&time_zone=Africa/Monrovia`);
      assert.equal(status, 200, `${day}: ${text}`);
    }
  });
});
