// What a new operator touches outside of its own files: the places that the compiler asks for, in a copy with an invented one, and the lines
// that name those which are there.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readArguments } from '../src/arguments.mjs';
import { OPERATOR_IDS, type OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import { findProjectRoot } from '../src/project-root.ts';

const root = findProjectRoot();
const CODE = /^(src|workflows|activities|console\/src)\/.*\.tsx?$/;
const CATALOGUE = 'src/domain/payments/operator-catalogue.ts';
const INVENTED = 'invented-operator';

/** How many lines of each file, by its name. */
export type LinesByFile = ReadonlyMap<string, number>;

/** The lines of the code that name the operator in any form, outside of the files that are its own. */
export function linesNaming(operator: OperatorId): LinesByFile {
  const [word = operator] = operator.split('-');
  const ownFiles = [
    `src/operators/${operator}/`,
    `src/sandbox/${word}-`,
    `src/settings/${word}`,
    `src/dev/demo-${word}`,
  ];
  const files = trackedFiles().filter((file) => CODE.test(file) && !ownFiles.some((own) => file.startsWith(own)));
  return counted(
    files.flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .filter((line) => line.toLowerCase().includes(word))
        .map(() => file),
    ),
  );
}

/** Where the compiler asks for something once the catalogue has another id, in a copy of the tracked files. */
function placesWithInvented(): LinesByFile {
  const folder = mkdtempSync(join(tmpdir(), 'malipo-operator-'));
  try {
    for (const file of trackedFiles()) cpSync(join(root, file), join(folder, file));
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const catalogue = readFileSync(join(root, CATALOGUE), 'utf8');
    const withId = catalogue.replace('export type OperatorId = ', `export type OperatorId = '${INVENTED}' | `);
    if (withId === catalogue) throw new Error(`${CATALOGUE} has no type OperatorId of this form`);
    writeFileSync(join(folder, CATALOGUE), withId);
    const projects = ['.', 'console'].map((project) =>
      spawnSync('node_modules/.bin/tsc', ['--noEmit', '-p', project], { cwd: folder, encoding: 'utf8' }),
    );
    const errors = projects.flatMap(({ stdout }) => stdout.split('\n').filter((line) => line.includes(INVENTED)));
    return counted(errors.flatMap((line) => /^([^\s(]+)\(\d+,/.exec(line)?.[1] ?? []));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function trackedFiles(): string[] {
  return execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 24 })
    .split('\n')
    .filter(Boolean);
}

function counted(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function print(title: string, counts: LinesByFile): void {
  const sum = [...counts.values()].reduce((total, count) => total + count, 0);
  const lines = [...counts].sort().map(([file, count]) => `${String(count).padStart(6)}  ${file}`);
  process.stdout.write(`${[`${title}: ${sum} in ${counts.size} files`, ...lines].join('\n')}\n`);
}

if (process.argv[1] === import.meta.filename) {
  readArguments({
    usage: 'usage: npm run operator-lines\n\nPrints what a new operator touches outside of its own files.',
  });
  print('places for which the compiler asks once the catalogue has another id', placesWithInvented());
  for (const operator of OPERATOR_IDS)
    print(`\nlines that name ${operator} outside of its own files`, linesNaming(operator));
}
