// An append-only file of JSON lines that survives a killed process: batched writes, tolerant reading, compaction.
import { open, rename, type FileHandle } from 'node:fs/promises';

export type Journal = {
  /** Resolves when the operating system has the line, so that the line outlives this process. */
  append(entry: unknown): Promise<void>;
  close(): Promise<void>;
};

type JournalOptions = {
  readonly path: string;
  /** All current entries to keep: the content of a rewritten file. */
  readonly snapshot: () => readonly unknown[];
  readonly growthBytes: number;
};

/** Limits how long a rewrite blocks the rest of this process. */
const LINES_PER_WRITE = 500;

/** Calls `onEntry` for each line in order, and skips broken lines, which a kill or a full disk leaves. */
export async function readJournal(path: string, onEntry: (entry: unknown) => void): Promise<void> {
  const file = await openIfThere(path);
  if (file === null) return;
  // The stream behind readLines closes the file at the end of the file, and when the loop exits early.
  for await (const line of file.readLines()) {
    const entry = parseLine(line);
    if (entry !== undefined) onEntry(entry);
  }
}

/** Rewrites the file with `snapshot` and opens it for appending. One process at a time. */
export async function openJournal({ path, snapshot, growthBytes }: JournalOptions): Promise<Journal> {
  let { file, bytes: bytesAtRewrite } = await rewrite(path, snapshot());
  let bytes = bytesAtRewrite;
  let waiting: string[] = [];
  let batch: Promise<void> | null = null;

  // One write at a time: lines that arrive during a write share the next one, so batches need no timer.
  async function writeBatch(previous: Promise<void> | null): Promise<void> {
    await previous?.catch(() => undefined);
    const lines = waiting;
    waiting = [];
    batch = null;
    // The empty line ends a line that a failed write may have truncated, for example on a full disk.
    const text = Buffer.from(`\n${lines.join('')}`);
    await file.appendFile(text);
    bytes += text.length;
    if (bytes - bytesAtRewrite > growthBytes) await rewriteNow();
  }

  async function rewriteNow(): Promise<void> {
    const rewritten = await rewrite(path, snapshot());
    const old = file;
    ({ file, bytes: bytesAtRewrite } = rewritten);
    bytes = bytesAtRewrite;
    await old.close();
  }

  let last: Promise<void> = Promise.resolve();
  return {
    append(entry) {
      waiting.push(toLine(entry));
      if (batch === null) {
        batch = writeBatch(last);
        last = batch;
      }
      return last;
    },
    async close() {
      await last.catch(() => undefined);
      await file.close();
    },
  };
}

// Writes another file and renames it: a kill at any moment leaves either the old or the new content complete.
async function rewrite(path: string, entries: readonly unknown[]): Promise<{ file: FileHandle; bytes: number }> {
  const besidePath = `${path}.new`;
  const file = await open(besidePath, 'w');
  try {
    let bytes = 0;
    for (let start = 0; start < entries.length; start += LINES_PER_WRITE) {
      const chunk = Buffer.from(
        entries
          .slice(start, start + LINES_PER_WRITE)
          .map(toLine)
          .join(''),
      );
      await file.appendFile(chunk);
      bytes += chunk.length;
    }
    await file.sync();
    await rename(besidePath, path);
    return { file, bytes };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

function toLine(entry: unknown): string {
  return `${JSON.stringify(entry)}\n`;
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}
