// The filters of a list, kept in the address of the page: a link, a reload and the way back show the same rows.
import { useSearchParams } from 'wouter';

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
  /** For the field that sets this filter. */
  const field = (name: Name) => ({ value: values[name], onChange: (value: string) => set(name, value) });
  return { values, set, field, isFiltered: Object.values(values).some((value) => value !== '') };
}

/** Only those that say something, as the API wants them. */
export function given<Name extends string>(values: Readonly<Record<Name, string>>): Partial<Record<Name, string>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')) as Partial<
    Record<Name, string>
  >;
}
