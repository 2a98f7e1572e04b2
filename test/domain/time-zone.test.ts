// Time zones: which there are, and when their days begin.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { clocksOf, dateShown, daysBetween, isTimeZone, spansAt } from '../../src/domain/time-zone.ts';
import { IANA_TIME_ZONES, NO_TIME_ZONES } from './time-zone-names.ts';

const LETTERS = Array.from({ length: 26 }, (_, n) => String.fromCharCode(65 + n));
const startOf = (zone: string, date: string): string | undefined =>
  daysBetween(clocksOf(zone), { from: date, to: date }).days[0]?.startsAt.toISOString();

describe('a time zone', () => {
  it('is every name of the IANA, of today and of the past', () => {
    assert.equal(IANA_TIME_ZONES.length, 597);
    for (const name of ['Asia/Kolkata', 'Asia/Calcutta', 'Europe/Kyiv', 'Europe/Kiev', 'Africa/Asmara', 'US/Pacific']) {
      assert.ok(IANA_TIME_ZONES.includes(name), name);
    }
    assert.deepEqual(
      IANA_TIME_ZONES.filter((name) => !isTimeZone(name)),
      [],
    );
  });

  it('is not a name of nothing, an offset or an abbreviation that several zones share', () => {
    assert.deepEqual(NO_TIME_ZONES.filter(isTimeZone), []);
    const ofThree = LETTERS.flatMap((a) => LETTERS.flatMap((b) => LETTERS.map((c) => `${a}${b}${c}`)));
    assert.deepEqual(ofThree.filter(isTimeZone), IANA_TIME_ZONES.filter((name) => /^[A-Z]{3}$/.test(name)).sort());
  });

  it('has the same clocks under its old and its new name', () => {
    const pairs = [
      ['Asia/Kolkata', 'Asia/Calcutta'],
      ['Europe/Kyiv', 'Europe/Kiev'],
      ['Africa/Asmara', 'Africa/Asmera'],
      ['America/Nuuk', 'America/Godthab'],
    ] as const;
    for (const [now, before] of pairs) {
      for (const date of ['2026-01-31', '2026-07-31']) assert.equal(startOf(now, date), startOf(before, date), now);
    }
  });

  it('begins its day when its clocks first show that day', () => {
    const starts: [string, string, string][] = [
      ['UTC', '2026-03-04', '2026-03-04T00:00:00.000Z'],
      ['Africa/Kampala', '2026-03-04', '2026-03-03T21:00:00.000Z'],
      ['Asia/Kathmandu', '2026-03-04', '2026-03-03T18:15:00.000Z'],
      ['Pacific/Kiritimati', '2026-03-04', '2026-03-03T10:00:00.000Z'],
      ['Etc/GMT+12', '2026-03-04', '2026-03-04T12:00:00.000Z'],
      // Put forward from midnight to one: the day begins at one.
      ['Africa/Cairo', '2024-04-26', '2024-04-25T22:00:00.000Z'],
      ['Africa/Cairo', '2024-04-27', '2024-04-26T21:00:00.000Z'],
      // Put back from one to midnight: midnight comes twice, and the day begins at the first.
      ['America/Havana', '2024-11-03', '2024-11-03T04:00:00.000Z'],
      ['America/Havana', '2024-11-04', '2024-11-04T05:00:00.000Z'],
      // Put back from midnight to eleven of the day before.
      ['Africa/Cairo', '2024-11-01', '2024-10-31T22:00:00.000Z'],
      // The day that was left out has no length.
      ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000Z'],
      ['Pacific/Apia', '2011-12-31', '2011-12-30T10:00:00.000Z'],
    ];
    for (const [zone, date, at] of starts) assert.equal(startOf(zone, date), at, `${zone} ${date}`);
  });

  it('has days that follow each other without a gap, each of which begins on its date, in every zone', () => {
    const dates = fc.date({ min: new Date('2012-01-01'), max: new Date('2035-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(fc.constantFrom(...IANA_TIME_ZONES), dates, (zone, at) => {
        const clocks = clocksOf(zone);
        const date = dateShown(clocks, at);
        const { days, endsAt } = daysBetween(clocks, { from: date, to: date });
        const [day] = days;
        assert.ok(day && day.startsAt <= at && at < endsAt, `${zone} ${at.toISOString()}`);
        assert.equal(dateShown(clocks, day.startsAt), date, zone);
        assert.notEqual(dateShown(clocks, endsAt), date, zone);
      }),
      { numRuns: 2000 },
    );
  });

  it('compares today with the same span of the same weekday, whatever clock changes are in between', () => {
    const at = new Date('2024-04-27T09:30:00.123Z');
    assert.deepEqual(spansAt(at, 'Africa/Cairo'), {
      today: new Date('2024-04-26T21:00:00.000Z'),
      weekAgoFrom: new Date('2024-04-19T22:00:00.000Z'),
      weekAgoTo: new Date('2024-04-20T10:30:00.123Z'),
    });
  });
});
