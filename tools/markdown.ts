// The parts of generated Markdown pages.

export function page(title: string, notice: string, parts: readonly string[]): string {
  return [`# ${title}`, notice, ...parts].join('\n\n') + '\n';
}

export function code(text: string): string {
  return `\`${text}\``;
}

/** A table without spaces around its cells: nobody edits it, and its changes are shorter. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `|${cells.join('|')}|`;
  return [line(head), line(head.map(() => '-')), ...rows.map(line)].join('\n');
}
