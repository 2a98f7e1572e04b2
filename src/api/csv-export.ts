// Exports lists as CSV: reads page by page as fast as the caller receives, while the caller's session lasts.
import { Readable } from 'node:stream';
import type { Database } from '../db/platform/database.ts';
import type { ActedBy } from '../domain/accounts/member.ts';
import type { Session } from '../domain/accounts/session.ts';
import { csvLine, type Cell } from '../domain/csv.ts';
import { recordExport, type RecordExport } from '../operations/accounts/audit-log.ts';
import { isSessionUnchanged } from '../operations/read-live-updates.ts';

/** The columns in their order: for each name, the cell of an item. */
export type CsvColumns<Item> = Readonly<Record<string, (item: Item) => Cell>>;

export type CsvExport<Item, Place> = {
  readonly dataset: RecordExport['dataset'];
  readonly by: ActedBy;
  readonly session: Session;
  readonly filters: Readonly<Record<string, unknown>>;
  readonly columns: CsvColumns<Item>;
  /** A page may have fewer items than `limit`, or none, and still be followed by another page. */
  readonly readPage: (
    place: Place | null,
    limit: number,
  ) => Promise<{ readonly items: readonly Item[]; readonly next: Place | null }>;
};

const PAGE_SIZE = 500;
const CHECK_SESSION_EVERY_MS = 5000;
// A filter value may identify a person, so it does not belong in a log that is kept for ever.
const PERSONAL_FILTERS = ['phone', 'reference', 'idempotency_key'];

/**
 * The response with the export. The audit entry is recorded and the first page read before this returns: their failure
 * is an error response. A later failure, or the end of the session, breaks the response off, which shows that it is
 * incomplete.
 */
export async function csvResponse<Item, Place>(db: Database, what: CsvExport<Item, Place>) {
  const { dataset, by, filters } = what;
  const at = new Date();
  await recordExport(db, { by, dataset, filters: withoutPersonal(filters), at });
  const lines = linesOf(db, what);
  const first = await lines.next();
  return {
    stream: Readable.from(startingWith(first.value ?? '', lines), { objectMode: false }),
    headers: { 'Content-Disposition': `attachment; filename="${dataset}-${at.toISOString().slice(0, 10)}.csv"` },
  };
}

async function* linesOf<Item, Place>(
  db: Database,
  { session, columns, readPage }: CsvExport<Item, Place>,
): AsyncGenerator<string, undefined> {
  const cells = Object.values(columns);
  let head = csvLine(Object.keys(columns));
  let checkedAtMs = Date.now();
  let place: Place | null = null;
  do {
    const { items, next }: { readonly items: readonly Item[]; readonly next: Place | null } = await readPage(
      place,
      PAGE_SIZE,
    );
    const lines = head + items.map((item) => csvLine(cells.map((cellOf) => cellOf(item)))).join('');
    if (lines !== '') yield lines;
    head = '';
    place = next;
    if (Date.now() - checkedAtMs < CHECK_SESSION_EVERY_MS) continue;
    if (!(await isSessionUnchanged(db, session, new Date()))) throw new Error('the session of the export ended');
    checkedAtMs = Date.now();
  } while (place !== null);
  return undefined;
}

// When the caller closes the connection, the stream ends the generator and no further page is read.
async function* startingWith(first: string, lines: AsyncGenerator<string>): AsyncGenerator<string> {
  yield first;
  yield* lines;
}

function withoutPersonal(filters: Readonly<Record<string, unknown>>): object {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, PERSONAL_FILTERS.includes(name) ? 'given' : value]));
}
