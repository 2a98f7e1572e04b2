// A button in a row of a list, which opens what it does; its label for screen readers names the row.
import { Button } from '@mantine/core';

type RowButtonProps = {
  readonly verb: string;
  /** The object of the verb, such as the name of the row. */
  readonly object: string;
  readonly onClick: () => void;
};

export function RowButton({ verb, object, onClick }: RowButtonProps) {
  return (
    <Button size="compact-sm" variant="default" aria-label={`${verb} ${object}`} onClick={onClick}>
      {verb}…
    </Button>
  );
}
