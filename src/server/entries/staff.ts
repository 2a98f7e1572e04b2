// Entry of `npm run staff`: the commands of the service's staff, on the settings of a server.
import { runStaffCommand } from '../../admin/staff-command-line.ts';
import { STAFF_COMMANDS } from '../../admin/staff-commands.ts';
import { withServerSettings } from '../../dev/server-settings.ts';

const code = await runStaffCommand({
  args: process.argv.slice(2),
  commands: STAFF_COMMANDS,
  settings: () => withServerSettings(process.env),
});
process.exitCode = code;
// A connection that still waits for a silent server would delay the end of the process.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
