// Rules about requests: each accepted request is recorded once and as requested, and a repeat gets the same bytes.
import type { JournalResult, Request } from './evidence.ts';
import type { CollectionRow, PayoutRow } from './records.ts';
import { groupBy, type Case, type Rules, type Violation } from './violation.ts';

/** Responses that the service stores and repeats. */
const STORED_STATUSES = [200, 202, 402];

export const requestRules: Rules = (evidence) => [
  ...checkCreations(evidence),
  ...checkRowsWereRequested(evidence),
  ...checkRepeats(evidence),
  ...checkDecisions(evidence),
];

type Row = CollectionRow | PayoutRow;

function checkCreations({ requests, records }: Case): Violation[] {
  const rows = new Map<string, Row[]>();
  for (const kind of ['collection', 'payout'] as const) {
    const all: readonly Row[] = kind === 'collection' ? records.collections : records.payouts;
    for (const [key, group] of groupBy(all, (row) => keyOf(kind, row.merchantId, row.key))) rows.set(key, group);
  }
  const creations = requests.filter(({ action }) => action === 'collection' || action === 'payout');
  return [...groupBy(creations, (request) => keyOf(request.action, request.merchantId, request.key))].flatMap(
    ([key, group]) => checkCreation(key, group, rows.get(key) ?? []),
  );
}

function checkCreation(key: string, requests: readonly Request[], rows: readonly Row[]): Violation[] {
  const violations: Violation[] = [];
  const accepted = requests.filter(({ results }) => results.some(({ status }) => status === 202));
  if (rows.length > 1) {
    const ids = rows.map(({ id }) => id).join(' and ');
    violations.push({ rule: 'request_recorded_twice', id: key, text: `recorded as ${ids}` });
  }
  if (new Set(accepted.map(({ body }) => body)).size > 1) {
    violations.push({ rule: 'key_reused', id: key, text: 'two different bodies were accepted under one key' });
  }
  const [row] = rows;
  const stored = stored202(accepted);
  if (stored !== null && row?.id !== stored.id) {
    const text = `${stored.id} was accepted, and the database has ${row?.id ?? 'nothing'} under its key`;
    violations.push({ rule: 'accepted_request_lost', id: stored.id, text });
  }
  const refused = requests.some(({ results }) => results.some(({ status }) => status === 402));
  if (refused && row) {
    violations.push({ rule: 'row_differs_from_request', id: row.id, text: 'it was refused with 402 and is recorded' });
  }
  const [first] = accepted;
  if (row && first) violations.push(...checkFields(row, JSON.parse(first.body) as Readonly<Record<string, unknown>>));
  return violations;
}

function stored202(accepted: readonly Request[]): { id: string } | null {
  for (const { results } of accepted) {
    const result = results.find(({ status }) => status === 202);
    if (result) return JSON.parse(result.body) as { id: string };
  }
  return null;
}

function checkFields(row: Row, body: Readonly<Record<string, unknown>>): Violation[] {
  return (['phone', 'amount', 'reference'] as const)
    .filter((name) => row[name] !== body[name])
    .map((name) => ({
      rule: 'row_differs_from_request',
      id: row.id,
      text: `its ${name} is ${row[name]}, requested was ${String(body[name])}`,
    }));
}

function checkRowsWereRequested({ requests, records }: Case): Violation[] {
  const requested = new Set(requests.map(({ action, merchantId, key }) => keyOf(action, merchantId, key)));
  const reversalsOf = new Set(
    requests.filter(({ action }) => action === 'reversal').flatMap(({ subjects }) => subjects),
  );
  const unrequested = [
    ...records.collections.filter((row) => !requested.has(keyOf('collection', row.merchantId, row.key))),
    ...records.payouts.filter((row) => !requested.has(keyOf('payout', row.merchantId, row.key))),
    ...records.reversals.filter(({ collectionId }) => !reversalsOf.has(collectionId)),
  ];
  return unrequested.map(({ id }) => ({ rule: 'row_without_request', id, text: 'nobody requested it' }));
}

function checkRepeats({ requests }: Case): Violation[] {
  const keyed = requests.filter(({ key }) => key !== null);
  const groups = groupBy(keyed, ({ action, merchantId, key, userId, body, subjects }) =>
    [keyOf(action, merchantId, key), userId, body, subjects.join(' ')].join('\n'),
  );
  return [...groups.values()].flatMap((group) => {
    const stored = group.flatMap(({ results }) => results).filter(isStored);
    if (new Set(stored.map(({ status, body }) => `${status ?? ''} ${body}`)).size <= 1) return [];
    const [first] = group;
    const text = `${stored.length} responses to the same ${first?.action ?? 'request'} are not the same bytes`;
    return [{ rule: 'replay_differs', id: first?.key ?? '', text }];
  });
}

function isStored({ status }: JournalResult): boolean {
  return status !== null && STORED_STATUSES.includes(status);
}

function checkDecisions({ requests, records }: Case): Violation[] {
  const approvals = new Set(records.approvals.map(({ paymentId, userId }) => `${paymentId} ${userId}`));
  const decided = new Map([...records.payouts, ...records.reversals].map((row) => [row.id, row]));
  const reversals = new Set(records.reversals.map(({ id }) => id));
  return requests.flatMap((request): Violation[] => {
    const { action, userId } = request;
    const done = request.results.find(({ status }) => status === 200 || status === 202);
    if (!done) return [];
    const lost = (id: string, what: string): Violation => ({
      rule: 'decision_lost',
      id,
      text: `${what} was confirmed to ${userId ?? 'a key'} and is not recorded`,
    });
    const isApproved = (id: string) => approvals.has(`${id} ${userId ?? ''}`);
    switch (action) {
      case 'collection':
      case 'payout':
        return [];
      case 'release':
      case 'release_many':
        return releasedIn(request, done)
          .filter((id) => !isApproved(id))
          .map((id) => lost(id, 'the release'));
      case 'reject':
      case 'cancel': {
        const wanted = action === 'reject' ? 'rejected' : 'cancelled';
        const ended = request.subjects.map((id) => decided.get(id));
        const isRecorded = ended.every((row) => row?.state === wanted && row.decidedBy === userId);
        return isRecorded ? [] : [lost(request.subjects.join(' '), `the state ${wanted}`)];
      }
      case 'reversal': {
        const { id } = JSON.parse(done.body) as { id: string };
        return reversals.has(id) ? [] : [lost(id, 'the reversal')];
      }
    }
  });
}

function releasedIn({ action, subjects }: Request, { body }: JournalResult): readonly string[] {
  if (action === 'release') return subjects;
  const { data } = JSON.parse(body) as { data: readonly { id: string; payout: object | null }[] };
  return data.filter(({ payout }) => payout !== null).map(({ id }) => id);
}

function keyOf(kind: string, merchantId: string, key: string | null): string {
  return `${kind}/${merchantId}/${key ?? ''}`;
}
