// The fields that the source writes into the log: every name is on this list, which has nothing personal and nothing secret.
import assert from 'node:assert/strict';
import ts from 'typescript';
import { trackedFiles, sourceOf } from '../support/source-tree.ts';

const LEVELS = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal']);

/** Ids, codes, counts, times, states and names of our own things; network addresses where a refusal is about one. */
const HARMLESS = new Set([
  'address',
  'addressId',
  'beganAt',
  'byRequestId',
  'chain',
  'cause',
  'channel',
  'code',
  'count',
  'deliveryId',
  'durationMs',
  'endpointId',
  'error',
  'everyMs',
  'excess',
  'failures',
  'faults',
  'head',
  'host',
  'id',
  'intervals',
  'isNew',
  'keyName',
  'kind',
  'left',
  'leftOut',
  'loop',
  'merchantId',
  'namespace',
  'note',
  'operator',
  'operatorCode',
  'operatorReceipt',
  'operatorReference',
  'paymentId',
  'pid',
  'port',
  'product',
  'purpose',
  'reason',
  'requestId',
  'resealed',
  'restartInMs',
  'role',
  'runId',
  'scheduleId',
  'status',
  'task',
  'taskQueue',
  'unopenable',
  'url',
  'why',
]);
/** What is logged as a whole, or beside other fields: a person read what it holds. */
const READ_BY_HAND = new Set([
  // A request: its id, method, route, status and duration, and the ids of who made it and of the payment. Of the other steps ids, codes
  // and durations.
  'src/server/telemetry/payment-telemetry.ts line',
  'src/server/telemetry/payment-telemetry.ts ...line',
  'src/server/telemetry/payment-telemetry.ts ...what',
  // The refused request: ids, method and route.
  'src/api/refusal-log.ts ...request',
  // The ids of an endpoint and its merchant, and why it was disabled.
  'src/dispatcher/first-attempts.ts endpoint',
  'activities/delivery.ts endpoint',
  // An error, how many, and of which kind.
  'src/dispatcher/recorded-work.ts line',
  // The table and the id of a row.
  'src/server/open-databases.ts row',
  // Temporal's own lines: names of workflows, activities and queues, which are ours, and ids.
  'src/server/worker.ts details',
  // An account or an id, and what does not add up.
  'activities/reconciliation.ts fault',
]);

/** The names of the fields that a call logs, and `file expression` for a field without a name; null for other nodes. */
function fieldsOf(node: ts.Node, file: string, source: ts.SourceFile): string[] | null {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return null;
  const { expression: logger, name } = node.expression;
  if (!LEVELS.has(name.text) || !/(^|\.)log$/.test(logger.getText(source))) return null;
  const [fields] = node.arguments;
  if (fields === undefined || ts.isStringLiteralLike(fields) || ts.isTemplateExpression(fields)) return [];
  if (!ts.isObjectLiteralExpression(fields)) return [`${file} ${fields.getText(source)}`];
  return fields.properties.map((property) =>
    property.name && ts.isIdentifier(property.name) ? property.name.text : `${file} ${property.getText(source)}`,
  );
}

function loggedFields(): string[] {
  const files = trackedFiles.filter((file) => /^(src|activities|workflows)\/.*\.ts$/.test(file));
  return files.flatMap((file) => {
    const found: string[] = [];
    const source = sourceOf(file);
    const visit = (node: ts.Node): void => {
      found.push(...(fieldsOf(node, file, source) ?? []));
      ts.forEachChild(node, visit);
    };
    visit(source);
    return found;
  });
}

describe('the fields of the log', () => {
  it('are known, each of them, and none is personal or secret', () => {
    const fields = loggedFields();
    assert.ok(fields.length > 100, `${fields.length} fields`);
    assert.deepEqual(
      [...new Set(fields)].filter((field) => !HARMLESS.has(field) && !READ_BY_HAND.has(field)),
      [],
    );
    const gone = [...HARMLESS, ...READ_BY_HAND].filter((field) => !fields.includes(field));
    assert.deepEqual(gone, [], 'nothing logs these any more');
  });
});
