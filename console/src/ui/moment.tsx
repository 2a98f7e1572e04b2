// A moment in the reader's own zone, with UTC on hover.
import { Text, Tooltip } from '@mantine/core';

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
