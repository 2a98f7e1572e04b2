// `malipo replays`: lists the replays of many deliveries, or shows one with its progress.
import { TEXT, type Command, type CommandLine, type Context } from '../command.ts';
import { replayTotalText } from '../../domain/webhooks/replay.ts';
import { listOrOne, printList, readList, readRange } from '../pages.ts';
import { replaySchema, type ReplayObject } from '../responses.ts';
import { signIn } from '../sign-in.ts';

const HELP = `usage: malipo replays [--limit N] [--json]
       malipo replays REPLAY_ID [--json]

Lists the replays of many deliveries, newest first; or shows one with its progress. Works with any role. To begin one:
malipo replay.

  --limit N  at most this many; default 20

With --json: {"data": […], "has_more"}; for one replay, the replay.

example
  malipo replays rpl_01kdvcg…
`;

const PATH = '/v1/console/replays';

export const replays: Command = {
  name: 'replays',
  summary: 'list replays with their progress',
  help: HELP,
  options: { limit: TEXT },
  ...listOrOne(PATH, list, { schema: replaySchema, textOf: replayText }),
};

async function list(line: CommandLine, context: Context): Promise<void> {
  const { limit } = readRange(line);
  const { api } = await signIn(line, context);
  const listed = await readList(api, { path: PATH, query: {}, item: replaySchema, limit });
  printList(listed, line, context, { replay: (row) => row.id, state: (row) => row.state, sent: sentText });
}

export function replayText(replay: ReplayObject): string {
  return `${replay.id} is ${replay.state}: ${sentText(replay)}`;
}

function sentText({ total, replayed, skipped }: ReplayObject): string {
  return `${replayed} of ${replayTotalText(total)} sent again${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
