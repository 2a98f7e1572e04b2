// The name of MTN's system for each country, which every call must have in `X-Target-Environment`.

const SYSTEMS: ReadonlyMap<string, string> = new Map([
  ['UG', 'mtnuganda'],
  ['RW', 'mtnrwanda'],
  ['CM', 'mtncameroon'],
  ['CI', 'mtnivorycoast'],
  ['BJ', 'mtnbenin'],
  ['GH', 'mtnghana'],
  ['ZM', 'mtnzambia'],
]);

const TEST_SYSTEM = 'sandbox';

/** MTN's test system takes the phones of every country. Throws if MTN has no system for the country. */
export function targetEnvironmentOf(country: string | null, environment: 'test' | 'live'): string {
  if (environment === 'test') return TEST_SYSTEM;
  const system = SYSTEMS.get(country ?? '');
  if (system === undefined) throw new Error(`MTN has no system for ${country ?? 'every country'}`);
  return system;
}
