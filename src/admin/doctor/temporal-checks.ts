// The doctor's checks of Temporal: what `npm run migrate` prepares there, and who works on it.
import { RETENTION_DAYS } from '../../temporal/setup.ts';
import type { Check } from './check.ts';

/** A worker asks for tasks once a minute at least. */
const LONGEST_SILENCE_MS = 150_000;

export const TEMPORAL_CHECKS: readonly Check[] = [
  {
    name: 'namespace',
    on: 'Temporal',
    looksAt: `the namespace is there and keeps closed workflows for ${RETENTION_DAYS} days or longer; in test, a shorter time is a note`,
    remedy: `No namespace: \`npm run migrate\`. A shorter time: \`temporal operator namespace update --retention ${RETENTION_DAYS}d\`. Until then people cannot look up older payments.`,
    async find(temporal, { settings }) {
      const days = await temporal.retention();
      if (days === null)
        return [`Temporal has no namespace ${settings.MALIPO_TEMPORAL_NAMESPACE ?? 'of the environment'}`];
      if (days >= RETENTION_DAYS) return [];
      const text = `closed workflows are kept for ${days === 1 ? 'a day' : `${days} days`}`;
      return [settings.MALIPO_ENVIRONMENT === 'live' ? text : { note: text }];
    },
  },
  {
    name: 'search attributes',
    on: 'Temporal',
    looksAt: 'the namespace has every search attribute of this version: no workflow starts without',
    remedy: '`npm run migrate`.',
    async find(temporal) {
      const missing = await temporal.missingSearchAttributes();
      return missing.length === 0 ? [] : [`missing: ${missing.join(', ')}`];
    },
  },
  {
    name: 'schedules',
    on: 'Temporal',
    looksAt: 'the schedules of the sweep and of the checks of the ledger are there and run',
    remedy:
      'Run a process with the role worker, which restores the schedules within a minute; operations.md, the schedules.',
    async find(temporal, { clocks }) {
      return (await temporal.stillSchedules(clocks)).map(({ scheduleId, why }) => `${scheduleId}: ${why}`);
    },
  },
  {
    name: 'workers',
    on: 'Temporal',
    looksAt: `a worker has asked each task queue for work in the last ${LONGEST_SILENCE_MS / 1000} s`,
    remedy: 'Start a process with the role worker (MALIPO_ROLES) on this namespace and MALIPO_TASK_QUEUE_PREFIX.',
    async find(temporal, { operators }) {
      const idle = await temporal.idleQueues(operators, LONGEST_SILENCE_MS);
      return idle.map((queue) => `no worker asks for the tasks of ${queue}`);
    },
  },
];
