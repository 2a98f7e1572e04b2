// Moments in the reader's own zone: shown with UTC on hover, and chosen.
import { Text, TextInput, Tooltip } from '@mantine/core';

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

export function Moment({ at }: { readonly at: string | null }) {
  if (at === null) return <>–</>;
  return (
    <Tooltip label={`${at.replace('T', ' ').replace('Z', '')} UTC`}>
      <Text component="time" dateTime={at} inherit>
        <span className="keeps">{DATE.format(new Date(at))},</span>{' '}
        <span className="keeps">{TIME.format(new Date(at))}</span>
      </Text>
    </Tooltip>
  );
}

type MomentInputProps = {
  readonly label: string;
  readonly description?: string;
  readonly error?: string | undefined;
  /** RFC 3339 in UTC; empty for none. */
  readonly value: string;
  readonly onChange: (value: string) => void;
};

/** A moment that a person chooses in their own zone. Outside the field it is in UTC, the form of the API. */
export function MomentInput({ label, description, error, value, onChange }: MomentInputProps) {
  return (
    <TextInput
      type="datetime-local"
      label={label}
      description={description}
      error={error}
      value={toLocal(value)}
      onChange={({ currentTarget }) => onChange(toUtc(currentTarget.value))}
    />
  );
}

function toUtc(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}

function toLocal(utc: string): string {
  const at = new Date(utc);
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
