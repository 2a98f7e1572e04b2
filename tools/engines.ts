// `npm run engines`: shows the PostgreSQL and Temporal servers that are kept for tests, and stops them.
import { endWithUsage, readArguments } from '../src/arguments.mjs';
import { findKeepers, type Status } from '../test/support/engine-lease.ts';

const USAGE = `usage: npm run engines [-- stop]

Shows the engines that runs of the tests have left for the next one, with their addresses. They end by themselves after a quarter of
an hour without a run; "stop" ends now those that no run uses.`;

const {
  positionals: [order],
} = readArguments({ usage: USAGE, positionals: [0, 1] });
if (order !== undefined && order !== 'stop') endWithUsage(`Unexpected argument '${order}'`, USAGE);

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
const keepers = await findKeepers();
if (keepers.length === 0) print('no engines run');
for (const keeper of keepers) {
  const status = await keeper.ask({ ask: 'status' });
  print(textOf(status));
  if (order === 'stop' && (await keeper.ask({ ask: 'stop' }))) {
    await keeper.ended;
    print('  stopped');
  }
  keeper.close();
}

function textOf({ isLeased, postgres, temporal }: Status): string {
  return [
    isLeased ? 'engines of a run that goes on' : 'engines that wait for a run',
    `  PostgreSQL    ${postgres?.adminUrl ?? 'not started yet'}`,
    `  Temporal      ${temporal?.address ?? 'not started yet'}`,
    `  Temporal UI   ${temporal?.uiUrl ?? 'none'}`,
  ].join('\n');
}
