// The project's source files as the tidy test reads them: what each imports, and what its functions do.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { findProjectRoot } from '../../src/project-root.ts';

export const root = findProjectRoot();

/** Every file that is committed, or would be, and is there. */
export const trackedFiles = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
})
  .toString()
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)));
export const files = trackedFiles.filter((file) => /\.(tsx?|mjs)$/.test(file));
export const codeFiles = files.filter((file) => /^(src|workflows|activities|console)\//.test(file));

export type Import = {
  readonly from: string;
  readonly to: string;
  /** The names that are imported as more than a type. Empty, too, for an import without a list of names. */
  readonly values: readonly string[];
  readonly isType: boolean;
};

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
    return [{ from: file, to, values: valuesOf(node), isType: isTypeOnly(node) }];
  });
}

function valuesOf(node: ts.ImportDeclaration | ts.ExportDeclaration): string[] {
  const list = ts.isExportDeclaration(node) ? node.exportClause : node.importClause?.namedBindings;
  // What takes everything takes more than reads.
  if (!list || !(ts.isNamedImports(list) || ts.isNamedExports(list))) return ['*'];
  return [...list.elements].filter((one) => !one.isTypeOnly).map((one) => (one.propertyName ?? one.name).text);
}

function isTypeOnly(node: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  const clause = node.importClause;
  if (!clause) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  return !clause.name && valuesOf(node).length === 0;
}

export function isWithin(file: string, part: string): boolean {
  return file === part || file.startsWith(`${part}/`);
}

/** The circles of imports within a part, each as the files that import each other. */
export function circlesIn(part: string): string[][] {
  const own = codeFiles.filter((file) => isWithin(file, part));
  const reached = new Map(own.map((file) => [file, new Set(importsOf(file).map(({ to }) => to))]));
  // Reached by way of this file, too: after all files it is whatever way there is.
  for (const via of own) {
    const beyond = reached.get(via) ?? [];
    for (const set of reached.values()) if (set.has(via)) for (const file of beyond) set.add(file);
  }
  const inCircle = own.filter((file) => reached.get(file)?.has(file));
  const circles = inCircle.map((file) =>
    inCircle.filter((other) => reached.get(file)?.has(other) && reached.get(other)?.has(file)),
  );
  return circles.filter((circle, index) => circle[0] === inCircle[index]);
}

const WRITES = /\b(INSERT|UPDATE|DELETE|LOCK|SHARE|TRUNCATE)\b/;

/** The exported functions with such a name that use a statement of their file which writes or locks. */
export function writingReadsOf(file: string, name: RegExp): string[] {
  const declared = new Map<string, ts.Node>();
  for (const node of sourceOf(file).statements) {
    if (ts.isFunctionDeclaration(node) && node.name) declared.set(node.name.text, node);
    if (!ts.isVariableStatement(node)) continue;
    for (const one of node.declarationList.declarations)
      if (ts.isIdentifier(one.name)) declared.set(one.name.text, one);
  }
  const isWriting = (node: ts.Node, seen: ReadonlySet<ts.Node>): boolean => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
      return WRITES.test(node.text);
    const used = ts.isIdentifier(node) ? declared.get(node.text) : undefined;
    if (used && !seen.has(used) && isWriting(used, new Set([...seen, used]))) return true;
    return node.forEachChild((child) => isWriting(child, seen) || undefined) ?? false;
  };
  return [...declared]
    .filter(([each, node]) => name.test(each) && isWriting(node, new Set([node])))
    .map(([each]) => `${file}: ${each}`);
}

/** Every name in the file, once. */
export function identifiersOf(file: string): string[] {
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) found.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(sourceOf(file));
  return [...found];
}

/** The lines with a text that names one of these ids. What a file imports is no text. */
export function linesNaming(ids: readonly string[], file: string): string[] {
  const source = sourceOf(file);
  const named = new RegExp(`(?<![a-z0-9])(${ids.join('|')})(?![a-z0-9])`);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node) || ts.isJsxText(node);
    if (isText && named.test(node.text))
      found.push(`${file}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

export function functionsOf(file: string): { name: string; lines: number; parameters: number }[] {
  const source = sourceOf(file);
  const found: { name: string; lines: number; parameters: number }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const first = source.getLineAndCharacterOfPosition(node.getStart()).line;
      const last = source.getLineAndCharacterOfPosition(node.getEnd()).line;
      const name = node.name && ts.isIdentifier(node.name) ? node.name.text : `line ${first + 1}`;
      found.push({ name, lines: last - first + 1, parameters: node.parameters.length });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
