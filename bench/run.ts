// Entry of `npm run bench -- NAME`.
import { endWithUsage, readArguments } from '../src/arguments.mjs';
import { benchAcceptCosts } from './accept-costs.ts';
import { benchAccept } from './accept.ts';
import { benchCollections } from './collections.ts';
import { benchDrain } from './drain.ts';
import { benchGrowth } from './growth.ts';
import { benchIdle } from './idle.ts';
import { benchOpen } from './open.ts';
import { benchPayers } from './payers.ts';
import { benchQueues } from './queues.ts';
import { benchReads } from './reads.ts';
import { benchSteps } from './steps.ts';
import { benchTraces } from './traces.ts';
import { benchWaiting } from './waiting.ts';
import { benchBacklogs } from './webhook-backlogs.ts';
import { benchWebhookLoad } from './webhook-load.ts';

const BENCHES: Readonly<Record<string, () => Promise<void>>> = {
  accept: benchAccept,
  'accept-costs': benchAcceptCosts,
  collections: benchCollections,
  drain: benchDrain,
  growth: benchGrowth,
  idle: benchIdle,
  open: benchOpen,
  payers: benchPayers,
  queues: benchQueues,
  reads: benchReads,
  steps: benchSteps,
  traces: benchTraces,
  waiting: benchWaiting,
  webhooks: benchWebhooks,
};

/** To one endpoint, beside a bare counterpart, and backlogs of several endpoints, beside one workflow for each delivery. */
async function benchWebhooks(): Promise<void> {
  const parts = (process.env['BENCH_PARTS'] ?? 'load,backlogs').split(',');
  if (parts.includes('load')) await benchWebhookLoad();
  if (parts.includes('backlogs')) await benchBacklogs();
}

const usage = `usage: npm run bench -- NAME

NAME is one of ${Object.keys(BENCHES).join(', ')}; docs/performance.md says what each measures.`;
const {
  positionals: [name = ''],
} = readArguments({ usage, positionals: [1, 1] });
const bench = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined;
if (!bench) endWithUsage(`There is no benchmark '${name}'`, usage);
await bench();
process.exit(0);
