// A state in its own word, with a colour for good, bad, waiting or unknown.
import { Badge } from '@mantine/core';
import { formatCode } from './format.ts';

const COLOURS: Readonly<Record<string, string>> = {
  succeeded: 'teal',
  delivered: 'teal',
  enabled: 'teal',
  active: 'teal',
  approved: 'teal',
  completed: 'teal',
  done: 'teal',
  working: 'teal',
  failed: 'red',
  dead_lettered: 'red',
  failing: 'orange',
  rejected: 'red',
  revoked: 'red',
  refused: 'red',
  // The outcome for the money is unknown.
  reconciling: 'orange',
  retrying: 'orange',
  undecided: 'orange',
  open: 'blue',
  queued: 'blue',
  pending: 'blue',
  initiated: 'blue',
  prompted: 'blue',
  released: 'blue',
  running: 'blue',
  waiting: 'blue',
};

export function StateBadge({ state }: { readonly state: string }) {
  return (
    <Badge miw="max-content" variant="light" color={COLOURS[state] ?? 'gray'} tt="none" autoContrast>
      {formatCode(state)}
    </Badge>
  );
}
