// A moment that a person chooses in their own zone; outside of the field it is a moment in UTC, as the API wants it.
import { TextInput } from '@mantine/core';

type MomentInputProps = {
  readonly label: string;
  readonly description?: string;
  readonly error?: string | undefined;
  /** RFC 3339 in UTC; empty for none. */
  readonly value: string;
  readonly onChange: (value: string) => void;
};

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
