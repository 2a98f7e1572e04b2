// Entry of `npm run staff`: staff commands for merchants, on the server's own configuration.
import { runStaffCommand } from '../admin/staff-command-line.ts';

process.exitCode = await runStaffCommand(process.argv.slice(2));
