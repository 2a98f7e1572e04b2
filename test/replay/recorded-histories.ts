// The recorded histories: where they are, how they are written, and what is removed from them first.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { temporalClient } from '../support/engines.ts';
import { play, SCENARIOS } from './scenarios.ts';

const FOLDER = fileURLToPath(new URL('histories', import.meta.url));
const EXTENSION = '.json';

export type RecordedHistory = {
  readonly name: string;
  readonly text: string;
  readonly events: readonly HistoryEvent[];
};
export type HistoryEvent = { readonly eventType: string } & Readonly<Record<string, unknown>>;

/** It makes the tests record histories before they read them: with `true` every one again, with `missing` new scenarios. */
export const RECORDING = 'MALIPO_RECORD_HISTORIES';

export function recordedHistories(): RecordedHistory[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith(EXTENSION))
    .sort()
    .map((file) => {
      const text = readFileSync(join(FOLDER, file), 'utf8');
      const { events } = JSON.parse(text) as { events: HistoryEvent[] };
      return { name: file.slice(0, -EXTENSION.length), text, events };
    });
}

/** Plays these scenarios and writes their histories. Removes the files of scenarios that no longer exist. */
export async function recordHistories(which: 'every' | 'missing'): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const names = new Set(SCENARIOS.map(({ name }) => name));
  const kept = new Set<string>();
  for (const { name } of recordedHistories()) {
    if (which === 'missing' && names.has(name)) kept.add(name);
    else rmSync(join(FOLDER, `${name}${EXTENSION}`));
  }
  for (const scenario of SCENARIOS.filter(({ name }) => !kept.has(name))) {
    const json = await play(scenario, historyOf);
    writeFileSync(join(FOLDER, `${scenario.name}${EXTENSION}`), json);
  }
}

async function historyOf({ workflowId, runId }: { workflowId: string; runId: string }): Promise<string> {
  const handle = (await temporalClient()).workflow.getHandle(workflowId, runId);
  const { events } = JSON.parse(historyToJSON(await handle.fetchHistory()), scrub) as { events: HistoryEvent[] };
  // One event per line, so that a change can be read.
  return `{"events":[\n${events.map((event) => JSON.stringify(event)).join(',\n')}\n]}\n`;
}

// A replay needs no names of processes, machines, files or folders.
function scrub(this: unknown, key: string, value: unknown): unknown {
  if (key === 'identity') return 'a worker';
  if (key === 'stackTrace') return '';
  if (key === 'name' && typeof value === 'string' && value.includes('@')) return 'a sticky queue';
  return value;
}
