// The filters of a list, kept in the address of the page: links, reloads and the back button show the same rows.
import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { formatCode } from './format.ts';
import { useSearchParams } from 'wouter';
import { MomentInput } from './moment.tsx';

const TYPING_PAUSE_MS = 300;

type FiltersProps = { readonly values: Readonly<Record<string, string>>; readonly children: ReactNode };

/** The fields side by side. On a phone a button opens them, and shows the number of active filters. */
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
  /** Why the text cannot filter; the list then stays unchanged. */
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

export function useFilters<Name extends string>(names: readonly Name[]) {
  const [params, setParams] = useSearchParams();
  const values = Object.fromEntries(names.map((name) => [name, params.get(name) ?? ''])) as Record<Name, string>;
  const set = (name: Name, value: string | null) => {
    setParams(
      (before) => {
        const after = new URLSearchParams(before);
        if (value === null || value === '') after.delete(name);
        else after.set(name, value);
        return after;
      },
      { replace: true },
    );
  };
  /** The properties of the field that sets this filter. */
  const field = (name: Name) => ({ value: values[name], onChange: (value: string) => set(name, value) });
  return { values, set, field, isFiltered: Object.values(values).some((value) => value !== '') };
}

/** Only non-empty filters, in the form of the API. */
export function given<Name extends string>(values: Readonly<Record<Name, string>>): Partial<Record<Name, string>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')) as Partial<
    Record<Name, string>
  >;
}

type CreatedFilterProps = {
  readonly field: (name: 'created_from' | 'created_to') => {
    readonly value: string;
    readonly onChange: (value: string) => void;
  };
};

/** The filters by the time of creation. */
export function CreatedFilter({ field }: CreatedFilterProps) {
  return (
    <>
      <MomentInput label="Created from" {...field('created_from')} />
      <MomentInput label="Created before" {...field('created_to')} />
    </>
  );
}
