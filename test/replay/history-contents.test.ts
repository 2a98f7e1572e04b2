// The content of recorded histories: ids, codes and durations, field by field. An unlisted field or form is refused.
import assert from 'node:assert/strict';
import { phoneFor } from '../support/payments.ts';
import { recordedHistories } from './recorded-histories.ts';

type Leaf = { readonly path: string; readonly value: string | number | boolean };

const ID = /^(col|pay|rev|dlv|whe|mer|evt|rpl)_[0-9a-hjkmnp-tv-z]{26}$/;
const CODE = /^(?!whsec_|sk_)[a-z]+([_-][a-z]+)*$/;
const FORMS: readonly RegExp[] = [
  ID,
  CODE,
  // The account of a merchant or an operator.
  /^mer_[0-9a-hjkmnp-tv-z]{26}\/(available|held)$/,
  // Run ids.
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
];
/** Texts for people, by the field that holds them: each is made of words of ours and of ids. */
const SUMMARY = /^[A-Za-z ,:’']+$/;
/** Numbers that are moments, durations and counts, by the end of their field's name. */
const COUNTED = /(Ms|Count|approvals|approvalsRequired|purged)$/;
/** What the SDK notes of a local activity (its name, its number, when it ran), and Temporal of a run by a schedule. */
const OF_THE_SDK = /details\.data\.payloads$|\.TemporalScheduled\w+$/;
/** The digest of an idempotency key. */
const DIGEST = /^[0-9a-f]{64}$/;
/** A run that a schedule started. */
const SCHEDULED = /^(t-[0-9a-f]{10}|malipo)-(reconciliation|(whole-)?ledger-check)-workflow-[0-9TZ:-]+$/;

function leavesOf(value: unknown, path = ''): Leaf[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((item) => leavesOf(item, `${path}[]`));
  if (typeof value === 'object') {
    return Object.entries(value).flatMap(([key, item]) => leavesOf(item, path === '' ? key : `${path}.${key}`));
  }
  return [{ path, value: value as Leaf['value'] }];
}

type Payload = { readonly name: string; readonly content: unknown };

/** What our own code put into the history: every payload, decoded, with the name of the field that holds it. */
function payloadsOf(value: unknown, name = ''): Payload[] {
  if (Array.isArray(value)) return value.flatMap((item) => payloadsOf(item, name));
  if (typeof value !== 'object' || value === null) return [];
  if ('metadata' in value && 'data' in value && typeof value.data === 'string') {
    const text = Buffer.from(value.data, 'base64').toString('utf8');
    return [{ name, content: text === '' ? null : (JSON.parse(text) as unknown) }];
  }
  return Object.entries(value).flatMap(([key, item]) => payloadsOf(item, name === '' ? key : `${name}.${key}`));
}

function isAllowed({ path, value }: Leaf): boolean {
  if (typeof value === 'boolean') return true;
  if (typeof value === 'number') return COUNTED.test(path.replaceAll('[]', '')) || path === '';
  if (path.endsWith('.fault')) return SUMMARY.test(value);
  return FORMS.some((form) => form.test(value));
}

/** What a person sees as one line of the event history. */
const SUMMARIZED = ['TIMER_STARTED', 'ACTIVITY_TASK_SCHEDULED', 'MARKER_RECORDED', 'WORKFLOW_EXECUTION_STARTED'];

describe('a recorded history', () => {
  for (const { name, events } of recordedHistories()) {
    it(`of ${name} has a summary of its run, and of every timer and activity`, () => {
      const without = events
        .filter(({ eventType }) => SUMMARIZED.some((type) => eventType === `EVENT_TYPE_${type}`))
        .filter((event) => !payloadsOf(event).some(({ name: field }) => field === 'userMetadata.summary'));
      assert.deepEqual(without, []);
    });
  }

  for (const { name, events } of recordedHistories()) {
    it(`of ${name} carries ids and codes only`, () => {
      const refused: string[] = [];
      for (const event of events) {
        for (const { name: field, content } of payloadsOf(event)) {
          if (field.startsWith('userMetadata') || OF_THE_SDK.test(field)) continue;
          for (const leaf of leavesOf(content)) {
            if (!isAllowed(leaf))
              refused.push(`${event.eventType} ${field} ${leaf.path}: ${JSON.stringify(leaf.value)}`);
          }
        }
      }
      assert.deepEqual(refused, []);
    });

    it(`of ${name} names in its summaries and failures ids alone, beside words of ours`, () => {
      for (const event of events) {
        const texts = payloadsOf(event)
          .filter(({ name: field }) => field.startsWith('userMetadata'))
          .map(({ content }) => content);
        for (const { path, value } of leavesOf(event)) if (path.endsWith('message')) texts.push(value);
        for (const text of texts) {
          const words = String(text)
            .split(/[\s:,()]+/)
            .filter((word) => word !== '');
          for (const word of words) {
            const isWord = /^[A-Za-z’'_-]+\.?$/.test(word) || ID.test(word) || /^\d{1,3}$/.test(word);
            assert.ok(isWord, `${word} in: ${String(text)}`);
          }
        }
      }
    });

    it(`of ${name} is of a workflow whose id holds ids and digests alone`, () => {
      const ids = leavesOf(events).filter(({ path }) => /(^|\.)workflowId$/.test(path));
      assert.notEqual(ids.length, 0);
      for (const { value } of ids) {
        for (const part of String(value).split('/')) {
          const isKnown =
            ID.test(part) || DIGEST.test(part) || /^([a-z]+|replay-\d+)$/.test(part) || SCHEDULED.test(part);
          assert.ok(isKnown, String(value));
        }
      }
    });
  }

  it('would be refused with a phone, a name, an amount or a secret in any field', () => {
    const amounts = ['amount', 'amountMinor', 'snapshot.total', 'balance', 'status.reported.amount'];
    for (const path of amounts) {
      for (const value of [5000, '5000', '12.50']) assert.ok(!isAllowed({ path, value }), `${path} ${value}`);
    }
    for (const value of [
      phoneFor('000'),
      'Akello Grace',
      'INV-1',
      'akello@shop.example',
      'whsec_abc',
      'sk_test_abc',
      'https://a.example',
    ]) {
      assert.ok(!isAllowed({ path: 'reference', value }), value);
    }
  });
});
