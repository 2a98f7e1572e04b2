// The fields by which lists are filtered.
import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { formatCode } from './format.ts';

const TYPING_PAUSE_MS = 300;

type FiltersProps = { readonly values: Readonly<Record<string, string>>; readonly children: ReactNode };

/** The fields side by side. On a telephone they open at a press of a button, which says how many filter. */
export function Filters({ values, children }: FiltersProps) {
  const [isOpen, { toggle }] = useDisclosure();
  const set = Object.values(values).filter((value) => value !== '').length;
  return (
    <>
      <Button variant="default" hiddenFrom="sm" w="fit-content" onClick={toggle} aria-expanded={isOpen}>
        {set === 0 ? 'Filters' : `Filters (${set})`}
      </Button>
      <Group align="end" {...(!isOpen && { visibleFrom: 'sm' })}>
        {children}
      </Group>
    </>
  );
}

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

type FilterTextProps = FilterProps & {
  /** Why the text cannot filter; then the list is left as it is. */
  readonly check?: (text: string) => string | null;
};

export function FilterText({ label, value, onChange, check }: FilterTextProps) {
  const [text, setText] = useState(value);
  const change = useDebouncedCallback(onChange, TYPING_PAUSE_MS);
  const error = text.trim() === '' ? null : check?.(text);
  return (
    <TextInput
      label={label}
      value={text}
      error={error}
      onChange={({ currentTarget: { value: typed } }) => {
        setText(typed);
        if (typed.trim() === '' || !check?.(typed)) change(typed.trim());
        else change.cancel();
      }}
    />
  );
}
