// The names of time zones that a browser may send.
import { readFileSync } from 'node:fs';

/** All names of the IANA but `Factory`, which stands for no zone chosen. */
export const IANA_TIME_ZONES: readonly string[] = readFileSync(new URL('iana-time-zones.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => /^[A-Z]/.test(line) && line !== 'Factory');

/** Some belong to no place, some to several, and some are orders to PostgreSQL. */
export const NO_TIME_ZONES: readonly string[] = [
  ...[
    '',
    'Factory',
    'Mars/Olympus',
    'Africa',
    'Africa/',
    'Africa/Kampala ',
    '../etc/passwd',
    'Etc/Unknown',
    'undefined',
  ],
  ...[
    'africa/kampala',
    'utc',
    'IST',
    'PST',
    'CST',
    'BST',
    'UTC+3',
    'GMT+5',
    '+03:00',
    '-05',
    'EST5',
    'FOO3BAR',
    'XYZ-3',
  ],
  ...['localtime', 'posixrules', 'posix/UTC', 'default', 'local', 'Africa/Kampala;', "UTC'", 'A'.repeat(300)],
];
