// One request of an API key, and its answer.
import { useQuery } from '@tanstack/react-query';
import { useParams } from 'wouter';
import { answerOf, api } from '../api/client.ts';
import { CopyText } from '../ui/copy-text.tsx';
import { Fields } from '../ui/fields.tsx';
import { Loaded, Page } from '../ui/page.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment } from '../ui/moment.tsx';
import { ObjectLink } from '../ui/object-link.tsx';

export function ApiRequest() {
  const { id } = useParams<{ id: string }>();
  const query = useQuery({
    queryKey: ['request', id],
    queryFn: () => answerOf(api.GET('/v1/console/requests/{id}', { params: { path: { id } } })),
  });
  return (
    <Page title="Request">
      <Loaded query={query}>
        {(request) => (
          <Fields
            label="The request"
            fields={[
              ['Sent', <MerchantText key="sent" text={`${request.method} ${request.path}`} />],
              ['Answered', String(request.status)],
              ['Error', request.error_code ?? '–'],
              ['Repeated', request.is_repeat ? 'yes, the stored response was sent again' : 'no'],
              ['Idempotency key', <MerchantText key="idempotency" text={request.idempotency_key ?? '–'} />],
              ['About', request.object_id === null ? '–' : <ObjectLink key="object" id={request.object_id} />],
              ['Key', <MerchantText key="key" text={request.api_key.name} />],
              ['From', request.address ?? '–'],
              ['Took', `${request.duration_ms} ms`],
              ['When', <Moment key="when" at={request.created_at} />],
              ['Request id', <CopyText key="id" text={request.id} what="request id" />],
            ]}
          />
        )}
      </Loaded>
    </Page>
  );
}
