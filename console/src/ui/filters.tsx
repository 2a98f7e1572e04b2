// The fields by which lists are filtered.
import { NativeSelect, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { formatCode } from './format.ts';

const TYPING_PAUSE_MS = 300;

type FilterProps = { readonly label: string; readonly value: string; readonly onChange: (value: string) => void };

export function FilterSelect({
  label,
  options,
  none = 'any',
  value,
  onChange,
}: FilterProps & { readonly options: readonly string[]; readonly none?: string }) {
  return (
    <NativeSelect
      label={label}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      data={[{ value: '', label: none }, ...options.map((option) => ({ value: option, label: formatCode(option) }))]}
    />
  );
}

export function FilterText({ label, value, onChange }: FilterProps) {
  const [text, setText] = useState(value);
  const change = useDebouncedCallback(onChange, TYPING_PAUSE_MS);
  return (
    <TextInput
      label={label}
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value);
        change(currentTarget.value.trim());
      }}
    />
  );
}
