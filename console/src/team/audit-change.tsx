// The change of an act in the audit log: each name with its value before and after.
import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useSession } from '../session/session.ts';
import { Amount } from '../ui/amount.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment } from '../ui/moment.tsx';
import { ObjectLink } from '../ui/object-link.tsx';
import { Person } from '../ui/person.tsx';
import { usePeople } from './people.ts';
import { formatRule, RULES, type Rule } from './rules.ts';

type Values = Readonly<Record<string, unknown>>;
type AuditChangeProps = { readonly before: Values | null; readonly after: Values | null };

export function AuditChange({ before, after }: AuditChangeProps) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  // An act that changed one value out of many shows only that one.
  const shown = names.filter((name) => JSON.stringify(before?.[name]) !== JSON.stringify(after?.[name]));
  if (shown.length === 0) return '–';
  return (
    <dl className="small-list">
      {shown.map((name) => (
        <div key={name}>
          <Text component="dt" size="xs" c="dimmed">
            {name in RULES ? RULES[name as Rule].name : name.replaceAll('_', ' ')}
          </Text>
          <Side title="Before" name={name} values={before} />
          <Side title="After" name={name} values={after} />
        </div>
      ))}
    </dl>
  );
}

type SideProps = { readonly title: string; readonly name: string; readonly values: Values | null };

function Side({ title, name, values }: SideProps) {
  if (values === null || !(name in values)) return null;
  return (
    <Text component="dd" size="sm">
      <Text component="span" size="xs" c="dimmed">
        {title}:
      </Text>{' '}
      <Value name={name} value={values[name]} />
    </Text>
  );
}

// By the name of the field, never by the form of the text, which people choose: it may resemble an id or a link.
const KINDS: Readonly<Record<string, 'person' | 'moment' | 'object'>> = {
  member: 'person',
  proposed_by: 'person',
  invited_by: 'person',
  expires_at: 'moment',
  old_expires_at: 'moment',
  revoked_at: 'moment',
  previous_secret_until: 'moment',
  created_from: 'moment',
  created_to: 'moment',
  reversal_id: 'object',
  collection_id: 'object',
  event_id: 'object',
  delivery_id: 'object',
  endpoint_id: 'object',
};

function Value({ name, value }: { readonly name: string; readonly value: unknown }) {
  const { currency } = useSession().merchant;
  const personOf = usePeople();
  if (name in RULES) return formatRule(name as Rule, value as number | boolean | null, currency);
  if (value === null || value === undefined) return <OurWord>none</OurWord>;
  if (typeof value === 'boolean') return <OurWord>{value ? 'yes' : 'no'}</OurWord>;
  if (name === 'amount' && typeof value === 'number') return <Amount amount={value} currency={currency} />;
  if (Array.isArray(value)) return <MerchantText text={value.map(String).join(', ')} />;
  if (typeof value !== 'string') return <MerchantText text={JSON.stringify(value)} />;
  const kind = KINDS[name];
  if (kind === 'person') return <Person person={personOf(value)} />;
  if (kind === 'moment') return <Moment at={value} />;
  if (kind === 'object') return <ObjectLink id={value} />;
  return <MerchantText text={value} />;
}

/** In another typeface than people's texts, which may be the same word. */
function OurWord({ children }: { readonly children: ReactNode }) {
  return (
    <Text component="em" inherit c="dimmed">
      {children}
    </Text>
  );
}
