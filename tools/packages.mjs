// The packages that we depend on: `check` compares licences and the recorded audit, offline; `audit` records a new one.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { endWithUsage, readArguments } from '../src/arguments.mjs';
import { npmCommand } from './npm.mjs';

const USAGE = `usage: node tools/packages.mjs check|audit [PROJECT]

check compares licences and the recorded audit; audit (npm run audit) records a new one.`;
const {
  positionals: [command, root = dirname(import.meta.dirname)],
} = readArguments({ usage: USAGE, positionals: [1, 2] });
const recordFile = join(root, 'docs', 'packages.json');

/** They allow our use of the packages, and require no source of ours. */
const LICENCES = new Set([
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'Unlicense',
  'PSF-2.0',
  'CC-BY-4.0',
  // They require the source of changed files. The project changes and ships none: only tools use them.
  'MPL-2.0',
  'Python-2.0',
]);
/** The lock file names no licence for these; a person has read it. */
const READ_BY_HAND = { unionfs: 'Unlicense' };

/** A vulnerability must be removed within this many days after its first audit: decision 1, dependencies. */
const LIMIT_DAYS = { critical: 2, high: 7, moderate: 30, low: 90, info: 90 };
const AUDIT_EVERY_DAYS = 7;
const today = dayOf(new Date());

const packages = Object.entries(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages)
  .filter(([path]) => path !== '')
  .map(([path, entry]) => ({ ...entry, name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length) }));

if (command === 'audit') audit();
else if (command === 'check') check();
else endWithUsage(`Unexpected argument '${command}'`, USAGE);

function check() {
  const problems = packages.flatMap((entry) => [...licenceProblem(entry), ...digestProblem(entry)]);
  const record = JSON.parse(readFileSync(recordFile, 'utf8'));
  const { audited, accepted = {} } = record;
  for (const found of audited?.vulnerabilities ?? []) {
    problems.push(...vulnerabilityProblem({ since: audited.at, ...found }, accepted[found.name]));
  }
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exit(1);
  // No failure: the project must be usable without this service of a registry.
  if (audited?.packagesSha256 === digest()) console.log(`the packages were audited at ${audited.at}${ageOf(audited)}`);
  else console.log('these packages were not audited: run `npm run audit` where the registry answers it');
}

// Somebody may accept it for a reason, at most until its limit: the acceptance then ends by itself.
function vulnerabilityProblem({ name, severity, since }, acceptance) {
  const limit = daysLater(since, LIMIT_DAYS[severity] ?? LIMIT_DAYS.critical);
  const what = `${name} has a known vulnerability (${severity}), to be gone by ${limit}`;
  if (acceptance === undefined)
    return [
      `${what}: update it, or say in docs/packages.json under "accepted" with reason and until why it stays so long`,
    ];
  const { reason, until } = acceptance;
  if (!reason || !/^\d{4}-\d\d-\d\d$/.test(until ?? '')) return [`${what}: it is accepted without a reason or an end`];
  if (until > limit) return [`${what}: it is accepted for longer than that`];
  return today > until ? [`${what}: it was accepted until ${until}`] : [];
}

function ageOf({ at }) {
  return today > daysLater(at, AUDIT_EVERY_DAYS)
    ? `, more than ${AUDIT_EVERY_DAYS} days ago: run \`npm run audit\``
    : '';
}

function dayOf(date) {
  return date.toISOString().slice(0, 10);
}

function daysLater(day, days) {
  return dayOf(new Date(Date.parse(day) + days * 86_400_000));
}

// If packages for other systems are not installed, npm does not know their licence: the parent's applies.
function licenceProblem({ name, license, optional, os }) {
  const given = license ?? READ_BY_HAND[name];
  if (given === undefined && optional && os) return [];
  const isAllowed =
    given
      ?.replace(/[()]/g, '')
      .split(' AND ')
      .every((part) => part.split(' OR ').some((choice) => LICENCES.has(choice))) ?? false;
  return isAllowed ? [] : [`${name} has the licence ${given ?? 'unknown'}, which is not allowed: tools/packages.mjs`];
}

// Without a digest npm installs whatever the registry serves under that name and version.
function digestProblem({ name, integrity, link }) {
  return link || integrity !== undefined
    ? []
    : [`${name} has no digest in package-lock.json: run \`node tools/complete-lock.mjs\``];
}

function audit() {
  const [npm, ...before] = npmCommand();
  const { status, stdout, stderr } = spawnSync(npm, [...before, 'audit', '--json'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const report = parsed(stdout);
  // npm ends with 1 if it found something, and also if it could not look.
  if (!report?.vulnerabilities) {
    console.error(
      `npm audit could not look (status ${status}), and nothing is recorded:\n${(report?.message ?? stderr).trim()}`,
    );
    process.exit(1);
  }
  const record = JSON.parse(readFileSync(recordFile, 'utf8'));
  const known = new Map((record.audited?.vulnerabilities ?? []).map(({ name, since }) => [name, since]));
  const vulnerabilities = Object.values(report.vulnerabilities).map(({ name, severity, range }) => ({
    name,
    severity,
    range,
    since: known.get(name) ?? today,
  }));
  const audited = { at: today, packagesSha256: digest(), vulnerabilities };
  writeFileSync(recordFile, `${JSON.stringify({ ...record, audited }, null, 2)}\n`);
  console.log(
    `${vulnerabilities.length} vulnerabilities of ${packages.length} packages are recorded in docs/packages.json`,
  );
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Over names, versions and contents of all packages, and nothing else in the lock file. */
function digest() {
  const lines = packages.map(({ name, version, integrity }) => `${name} ${version} ${integrity}`).sort();
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}
