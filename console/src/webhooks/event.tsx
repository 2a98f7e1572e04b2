// One event: its report, its body as sent, and its delivery to each endpoint.
import { Code, Text } from '@mantine/core';
import { useParams } from 'wouter';
import type { Schemas } from '../api/client.ts';
import { CopyText } from '../ui/copy-text.tsx';
import { Fields } from '../ui/fields.tsx';
import { Loaded, Page, Part } from '../ui/page.tsx';
import { Moment } from '../ui/moment.tsx';
import { ObjectLink } from '../ui/object-link.tsx';
import { Rows } from '../ui/rows.tsx';
import { deliveryColumns } from './deliveries.tsx';
import { useEndpointUrls, useEvent } from './queries.ts';
import { EVENT_WORDS } from './words.ts';

export function Event() {
  const { id } = useParams<{ id: string }>();
  const query = useEvent(id);
  return (
    <Page title={query.data === undefined ? 'Event' : `Event ${query.data.type}`}>
      <Loaded query={query}>{(event) => <Content event={event} />}</Loaded>
    </Page>
  );
}

function Content({ event }: { readonly event: Schemas['EventWithDeliveries'] }) {
  const { id, type, object_id, created_at, body, deliveries } = event;
  const urlOf = useEndpointUrls();
  return (
    <>
      <Fields
        label="The event"
        fields={[
          ['Meaning', EVENT_WORDS[type]],
          ['Of', <ObjectLink key="object" id={object_id} />],
          ['Created', <Moment key="created" at={created_at} />],
          ['Id', <CopyText key="id" text={id} what="id" />],
        ]}
      />
      <Part title="Deliveries">
        <Rows
          label="Deliveries"
          columns={deliveryColumns(urlOf)}
          rows={deliveries}
          empty="No enabled endpoint received its type, so the event was sent to none."
        />
      </Part>
      <Part title="Body" gap="xs">
        <Code block className="whole-text" tabIndex={0} role="region" aria-label="Body of the event">
          {prettyPrinted(body)}
        </Code>
        <Text size="sm" c="dimmed">
          Indented for reading. The signed text is in one line.
        </Text>
      </Part>
    </>
  );
}

/** Every number in a body is a safe integer, so only the white space changes. */
function prettyPrinted(body: string): string {
  return JSON.stringify(JSON.parse(body), null, 2);
}
