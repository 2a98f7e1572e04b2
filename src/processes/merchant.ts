// Entry of `npm run merchant`: staff commands for merchants, on the server's own configuration.
import { runMerchantCommand } from '../admin/merchant-command-line.ts';

process.exitCode = await runMerchantCommand(process.argv.slice(2));
