// What an act changed, as the audit log keeps it: each name with its value before and after.
import { Text } from '@mantine/core';
import { useSession } from '../session/session.ts';
import { Amount } from '../ui/amount.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment } from '../ui/moment.tsx';
import { ObjectLink } from '../ui/object-link.tsx';
import { useNames } from './names.ts';
import { formatRule, RULES, type Rule } from './rules.ts';

type Values = Readonly<Record<string, unknown>>;

export function AuditChange({ before, after }: { readonly before: Values | null; readonly after: Values | null }) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  // An act that changed one thing out of many shows that one.
  const shown = names.filter((name) => JSON.stringify(before?.[name]) !== JSON.stringify(after?.[name]));
  if (shown.length === 0) return '–';
  return (
    <dl className="small-list">
      {shown.map((name) => (
        <div key={name}>
          <Text component="dt" size="xs" c="dimmed">
            {name in RULES ? RULES[name as Rule].name : name.replaceAll('_', ' ')}
          </Text>
          <Text component="dd" size="sm">
            {before !== null && name in before && <Value name={name} value={before[name]} />}
            {before !== null && name in before && after !== null && name in after && ' → '}
            {after !== null && name in after && <Value name={name} value={after[name]} />}
          </Text>
        </div>
      ))}
    </dl>
  );
}

const MOMENT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
const OBJECT = /^(?:col|pay|rev|whe|dlv|evt)_[0-9a-z]{26}$/;

function Value({ name, value }: { readonly name: string; readonly value: unknown }) {
  const { currency } = useSession().merchant;
  const nameOf = useNames();
  if (name in RULES) return formatRule(name as Rule, value as number | boolean | null, currency);
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (name === 'amount' && typeof value === 'number') return <Amount amount={value} currency={currency} />;
  if (Array.isArray(value)) return <MerchantText text={value.map(String).join(', ')} />;
  if (typeof value !== 'string') return <MerchantText text={JSON.stringify(value)} />;
  if (MOMENT.test(value)) return <Moment at={value} />;
  if (OBJECT.test(value)) return <ObjectLink id={value} />;
  return <MerchantText text={value.startsWith('usr_') ? nameOf(value) : value} />;
}
