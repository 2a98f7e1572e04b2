// Entry of `npm run bench -- NAME`.
import { benchAcceptCosts } from './accept-costs.ts';
import { benchAccept } from './accept.ts';
import { benchCollections } from './collections.ts';
import { benchDrain } from './drain.ts';
import { benchGrowth } from './growth.ts';
import { benchIdle } from './idle.ts';
import { benchQueues } from './queues.ts';
import { benchReads } from './reads.ts';
import { benchSteps } from './steps.ts';
import { benchTraces } from './traces.ts';
import { benchWebhooks } from './webhooks.ts';

const BENCHES: Readonly<Record<string, () => Promise<void>>> = {
  accept: benchAccept,
  'accept-costs': benchAcceptCosts,
  collections: benchCollections,
  drain: benchDrain,
  growth: benchGrowth,
  idle: benchIdle,
  queues: benchQueues,
  reads: benchReads,
  steps: benchSteps,
  traces: benchTraces,
  webhooks: benchWebhooks,
};

const [name = ''] = process.argv.slice(2);
const bench = BENCHES[name];
if (bench) {
  await bench();
  process.exit(0);
} else {
  process.stderr.write(`usage: npm run bench -- NAME, where NAME is ${Object.keys(BENCHES).join(', ')}\n`);
  process.exit(2);
}
