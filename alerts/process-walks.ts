// Walks of processes, the database and the API: what is away, stands still or is used up.
import { change, holdOpen } from './database.ts';
import {
  keepDoing,
  keepRequesting,
  keepStopping,
  merchantOf,
  pays,
  request,
  requestMany,
  untilDelivered,
  untilState,
} from './payments.ts';
import type { Walk } from './walk.ts';

const LOCKED_REQUESTS_EVERY_MS = 100;
/** As a machine that gives the process a fifth of a core. */
const STANDS_STILL_MS = 1200;
const RUNS_MS = 300;
const REFUSED_REQUESTS_EVERY_MS = 500;
const DELIVERED_LIMIT_MS = 60_000;

export const PROCESS_WALKS: readonly Walk[] = [
  {
    alerts: ['MalipoProcessDown', 'MalipoRoleMissing', 'MalipoDeliveriesLate', 'MalipoHousekeepingLate'],
    fault: 'the only dispatcher is killed and stays away; its last pass is made five minutes older in the database',
    remedy: 'it is started again',
    async begin(stage) {
      const { dispatcher } = stage;
      const pid = dispatcher.pid();
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
      await dispatcher.stop();
      const ids = await requestMany(stage, 3);
      await change(
        stage,
        `UPDATE housekeeping SET done_as_of = done_as_of - interval '5 minutes' WHERE task = 'dispatch'`,
      );
      return async () => {
        // The workers go on without it.
        for (const id of ids) await untilState(stage, 'collections', id, 'succeeded');
        await dispatcher.start();
        await untilDelivered(stage, DELIVERED_LIMIT_MS);
      };
    },
  },
  {
    alerts: [
      'MalipoDatabaseUnreadable',
      'MalipoDatabasePoolWaits',
      'MalipoDatabaseConnectionsFail',
      'MalipoApiErrors',
      'MalipoApiSlow',
      'MalipoRequestLogIncomplete',
    ],
    fault: 'a transaction that somebody left open locks a table, while merchants request ten collections a second',
    remedy: 'it is ended with pg_terminate_backend',
    async begin(stage) {
      const terminate = await holdOpen(stage, 'LOCK TABLE payments IN ACCESS EXCLUSIVE MODE');
      const stopRequesting = keepRequesting(stage, LOCKED_REQUESTS_EVERY_MS);
      return async () => {
        const accepted = stopRequesting();
        await terminate();
        // Every merchant repeats with the same key, and each is paid once.
        for (const id of await accepted) await untilState(stage, 'collections', id, 'succeeded');
      };
    },
  },
  {
    alerts: ['MalipoEventLoopSlow'],
    fault: 'the worker gets a fifth of a core: it stands still four fifths of the time',
    remedy: 'it gets the machine back',
    async begin(stage) {
      const giveBack = keepStopping(stage.worker, STANDS_STILL_MS, RUNS_MS);
      const id = await request(stage, 'collections');
      return async () => {
        await giveBack();
        await untilState(stage, 'collections', id, 'succeeded');
      };
    },
  },
  {
    alerts: ['MalipoRefusalsRise'],
    fault: 'an approver tries to make API keys, twice a second',
    remedy: 'an owner removes the member, which ends their sessions',
    begin(stage) {
      const merchant = merchantOf(stage, 1);
      const [, person] = merchant.approvers;
      const tries = keepDoing(async () => {
        await stage.client.asPerson(merchant, person, {
          action: null,
          key: null,
          subjects: [],
          path: '/v1/console/keys',
          body: { name: 'mine', scopes: ['payouts:write'] },
        });
      }, REFUSED_REQUESTS_EVERY_MS);
      return async () => {
        const removed = await stage.client.asPerson(merchant, merchant.owner, {
          method: 'DELETE',
          action: null,
          key: null,
          subjects: [person.id],
          path: `/v1/console/members/${person.id}`,
          body: null,
        });
        if (removed?.status !== 204) throw new Error(`not removed: ${removed?.body ?? 'no response'}`);
        await tries();
        const made = await change(stage, `SELECT id FROM api_keys WHERE name = 'mine'`);
        if (made.length > 0) throw new Error('a refused request was done all the same');
        await pays(stage);
      };
    },
  },
];
