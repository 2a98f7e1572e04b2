// The options of `npm run chaos`.
import { randomInt } from 'node:crypto';
import { endWithUsage, readArguments } from '../src/arguments.mjs';
import { ENGINE_KINDS, type EngineKind } from './engines.ts';
import { PLUGS, type Plug } from './schedule.ts';

export type Options = {
  readonly payments: number;
  readonly seed: string;
  /** The payments and the faults are spread over this time; the wait for the end comes afterwards. */
  readonly minutes: number;
  readonly servers: number;
  /** Each server as two processes: one serves the API, the other does the rest. */
  readonly areRolesSplit: boolean;
  readonly topology: EngineKind;
  readonly faults: boolean;
  /** The longest time from one fault to the next, in seconds. */
  readonly faultGap: number;
  /** How often the plug is pulled, instead of all other faults; 0: the faults follow from the seed. */
  readonly pulls: number;
  readonly plug: Plug;
  /** Rows of the sandbox operator's table that no payment uses. */
  readonly except: readonly string[];
  readonly report: string | undefined;
  /** The folder of the evidence stays even without violations. */
  readonly keep: boolean;
  /** Instead of a campaign: falsifies its evidence in many ways, each of which the checker must name. */
  readonly prove: boolean;
};

/** Payments per minute, unless the options set the duration. */
const PAYMENTS_PER_MINUTE = 90;
const SHORTEST_FAULT_GAP = 2;
const PULLS_PER_MINUTE = 3;

const USAGE = `usage: npm run chaos -- [--payments N] [--seed S] [--minutes M] [--servers K] [--split-roles]
                       [--topology ${ENGINE_KINDS.join('|')}]
                       [--no-faults] [--fault-gap SECONDS] [--pull-plug N [--plug ${Object.keys(PLUGS).join('|')}]]
                       [--except ROW,…] [--report FILE] [--keep]
       npm run chaos -- --prove`;

/** Ends the process with the usage if the arguments are unusable. */
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
