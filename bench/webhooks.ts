// Webhooks: to one endpoint, beside a bare counterpart, and backlogs of several endpoints, beside one workflow for each delivery.
import { benchBacklogs } from './webhook-backlogs.ts';
import { benchWebhookLoad } from './webhook-load.ts';

const PARTS = (process.env['BENCH_PARTS'] ?? 'load,backlogs').split(',');

export async function benchWebhooks(): Promise<void> {
  if (PARTS.includes('load')) await benchWebhookLoad();
  if (PARTS.includes('backlogs')) await benchBacklogs();
}
