// The options of `npm run chaos`.
import { randomInt } from 'node:crypto';
import { endWithUsage, readArguments } from '../src/arguments.mjs';
import { ENGINE_KINDS, type EngineKind } from './engines.ts';
import { PLUGS, type Plug } from './schedule.ts';

export type Options = {
  readonly payments: number;
  readonly seed: string;
  /** Over this time the payments and the faults are spread; the wait for the end comes after it. */
  readonly minutes: number;
  readonly servers: number;
  /** Each server as two processes: one serves the API, the other one does the rest. */
  readonly areRolesSplit: boolean;
  readonly topology: EngineKind;
  readonly faults: boolean;
  /** The longest time from one fault to the next, in seconds. */
  readonly faultGap: number;
  /** In place of all other faults the plug is pulled so many times; 0: the faults are those of the seed. */
  readonly pulls: number;
  readonly plug: Plug;
  /** Rows of the sandbox operator's table that no payment is of. */
  readonly except: readonly string[];
  /** Markdown with the tables of the run. */
  readonly report: string | undefined;
  /** The folder of the evidence stays after a run without violations too. */
  readonly keep: boolean;
  /** Instead of a campaign: break its evidence in many ways, each of which the checker must name. */
  readonly prove: boolean;
};

/** Payments per minute, unless the options say how long it takes. */
const PAYMENTS_PER_MINUTE = 90;
const SHORTEST_FAULT_GAP = 2;
const PULLS_PER_MINUTE = 3;

const USAGE = `usage: npm run chaos -- [--payments N] [--seed S] [--minutes M] [--servers K] [--split-roles]
                       [--topology ${ENGINE_KINDS.join('|')}]
                       [--no-faults] [--fault-gap SECONDS] [--pull-plug N [--plug ${Object.keys(PLUGS).join('|')}]]
                       [--except ROW,…] [--report FILE] [--keep]
       npm run chaos -- --prove`;

/** Ends the process with the usage when the arguments are not usable. */
export function readOptions(): Options {
  const { values } = readArguments({
    usage: USAGE,
    options: {
      payments: { type: 'string', default: '200' },
      seed: { type: 'string' },
      minutes: { type: 'string' },
      servers: { type: 'string', default: '2' },
      'split-roles': { type: 'boolean', default: false },
      topology: { type: 'string', default: 'embedded' },
      'no-faults': { type: 'boolean', default: false },
      'fault-gap': { type: 'string', default: '10' },
      'pull-plug': { type: 'string', default: '0' },
      plug: { type: 'string', default: 'engines' },
      except: { type: 'string', default: '' },
      report: { type: 'string' },
      keep: { type: 'boolean', default: false },
      prove: { type: 'boolean', default: false },
    },
  });
  const payments = positive('payments', values.payments);
  const pulls = Number(values['pull-plug']);
  if (!(Number.isInteger(pulls) && pulls >= 0))
    endWithUsage(`--pull-plug is how many times, not ${values['pull-plug']}`, USAGE);
  const topology = ENGINE_KINDS.find((kind) => kind === values.topology);
  if (!topology) endWithUsage(`--topology is one of ${ENGINE_KINDS.join(', ')}`, USAGE);
  if (pulls > 0 && topology === 'embedded')
    endWithUsage('--pull-plug needs a topology with Temporal on PostgreSQL', USAGE);
  const plug = (Object.keys(PLUGS) as Plug[]).find((name) => name === values.plug);
  if (!plug) endWithUsage(`--plug is one of ${Object.keys(PLUGS).join(', ')}`, USAGE);
  const usualMinutes = pulls > 0 ? pulls / PULLS_PER_MINUTE : payments / PAYMENTS_PER_MINUTE;
  return {
    payments,
    seed: values.seed ?? String(randomInt(1_000_000_000)),
    minutes: values.minutes === undefined ? usualMinutes : positive('minutes', values.minutes),
    servers: positive('servers', values.servers),
    areRolesSplit: values['split-roles'],
    topology,
    faults: !values['no-faults'],
    faultGap: atLeast(SHORTEST_FAULT_GAP, 'fault-gap', values['fault-gap']),
    pulls,
    plug,
    except: values.except.split(',').filter(Boolean),
    report: values.report,
    keep: values.keep,
    prove: values.prove,
  };
}

function atLeast(least: number, name: string, text: string): number {
  const number = positive(name, text);
  if (number < least) endWithUsage(`--${name} is ${least} or more, not ${text}`, USAGE);
  return number;
}

function positive(name: string, text: string): number {
  const number = Number(text);
  if (!(number > 0)) endWithUsage(`--${name} is a number above zero, not ${text}`, USAGE);
  return number;
}
