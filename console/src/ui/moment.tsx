// A moment in the reader's own zone, with UTC on hover.
import { Text, Tooltip } from '@mantine/core';

const IN_READERS_ZONE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

export function Moment({ at }: { readonly at: string | null }) {
  if (at === null) return <>–</>;
  return (
    <Tooltip label={`${at.replace('T', ' ').replace('Z', '')} UTC`}>
      <Text component="time" dateTime={at} inherit style={{ whiteSpace: 'nowrap' }}>
        {IN_READERS_ZONE.format(new Date(at))}
      </Text>
    </Tooltip>
  );
}
