// The source files of the project, and what they import.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { findProjectRoot } from '../../src/dev/project-root.ts';

export const root = findProjectRoot();

export type Import = { readonly from: string; readonly to: string; readonly isType: boolean };

export const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
  .toString()
  .split('\n')
  .filter((file) => /\.(tsx?|mjs)$/.test(file));
export const codeFiles = files.filter((file) => /^(src|workflows|activities|console)\//.test(file));

export function sourceOf(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);
}

export function importsOf(file: string): Import[] {
  return sourceOf(file).statements.flatMap((node) => {
    if (!ts.isImportDeclaration(node) && !ts.isExportDeclaration(node)) return [];
    const { moduleSpecifier } = node;
    if (!moduleSpecifier || !ts.isStringLiteral(moduleSpecifier)) return [];
    const to = moduleSpecifier.text.startsWith('.')
      ? normalize(join(dirname(file), moduleSpecifier.text))
      : moduleSpecifier.text;
    return [{ from: file, to, isType: isTypeOnly(node) }];
  });
}

function isTypeOnly(node: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  const clause = node.importClause;
  if (!clause) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const named = clause.namedBindings;
  return !clause.name && named !== undefined && ts.isNamedImports(named) && named.elements.every((e) => e.isTypeOnly);
}

export function isWithin(file: string, part: string): boolean {
  return file === part || file.startsWith(`${part}/`);
}

/** The groups of files of a part that import each other, in a circle. */
export function circlesIn(part: string): string[][] {
  const inPart = codeFiles.filter((file) => isWithin(file, part));
  const importsOfFile = new Map(inPart.map((file) => [file, importsOf(file).map(({ to }) => to)]));
  const reachableFrom = (file: string): Set<string> => {
    const reached = new Set<string>();
    const visit = (next: string): void => {
      for (const to of importsOfFile.get(next) ?? []) {
        if (!reached.has(to)) {
          reached.add(to);
          visit(to);
        }
      }
    };
    visit(file);
    return reached;
  };
  const reach = new Map(inPart.map((file) => [file, reachableFrom(file)]));
  const circles = inPart.map((file) =>
    inPart.filter((other) => reach.get(file)?.has(other) && reach.get(other)?.has(file)),
  );
  const isFirst = (circle: string[], index: number) => circle[0] === inPart[index];
  return circles.filter(isFirst);
}
