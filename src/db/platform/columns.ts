// Takes the value of each parameter by the name of its column, so that no two values are swapped.
import { keyOf, statement, type Queryable } from './database.ts';

type Trimmed<Text> = Text extends `${' ' | '\n'}${infer Rest}` ? Trimmed<Rest> : Text;
type NameIn<List> = List extends `${infer First},${infer Rest}` ? Trimmed<First> | NameIn<Rest> : Trimmed<List>;
type KeyOf<Column> = Column extends `${infer Head}_${infer Rest}` ? `${Head}${Capitalize<KeyOf<Rest>>}` : Column;
/** A field for each column of the list, named like the column in camel case. */
type RowOf<List> = Readonly<Record<KeyOf<NameIn<List>> & string, unknown>>;

/** Parameters of a statement, from `$first` on: one for each column of the list `a, b`. */
export function parametersOf<List extends string>(columns: List, first = 1) {
  type Row = RowOf<List>;
  const keys = columns.split(',').map((column) => keyOf(column.trim()) as keyof Row);
  const places = keys.map((_, index) => `$${first + index}`);
  return {
    columns,
    places: places.join(', '),
    placeOf: Object.fromEntries(keys.map((key, index) => [key, places[index]])) as Record<keyof Row, string>,
    valuesOf: (row: Row): unknown[] => keys.map((key) => row[key]),
    next: first + keys.length,
  };
}

/** A function that inserts one row, whose fields have the names of the columns, and returns the columns of `ending`. */
export function insertion<List extends string>(name: string, table: string, columns: List, ending = '') {
  const { places, valuesOf } = parametersOf(columns);
  const INSERT = statement(name)`INSERT INTO ${table} (${columns}) VALUES (${places}) ${ending}`;
  return (db: Queryable, row: RowOf<List>): Promise<object[]> => db.run(INSERT, valuesOf(row));
}

/** The values of each of these fields, for `unnest`. */
export function columnsOf<Row>(rows: readonly Row[], ...keys: readonly (keyof Row)[]): unknown[][] {
  return keys.map((key) => rows.map((row) => row[key]));
}
