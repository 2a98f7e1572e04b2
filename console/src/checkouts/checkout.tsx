// One checkout: its link and QR code, and the attempts of payers.
import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { Phone } from '../payments/cells.tsx';
import { Amount } from '../ui/amount.tsx';
import { ConfirmModal } from '../ui/modals.tsx';
import { CopyText } from '../ui/copy-text.tsx';
import { Fields } from '../ui/fields.tsx';
import { formatCode } from '../ui/format.ts';
import { Heading, ObjectPage } from '../ui/page.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment } from '../ui/moment.tsx';
import { OwnWords } from '../ui/own-words.tsx';
import { Person } from '../ui/person.tsx';
import { QrCode } from '../ui/qr-code.tsx';
import { Rows, type Column } from '../ui/rows.tsx';
import { StateBadge } from '../ui/state-badge.tsx';
import { useMayMakeCheckouts } from './checkouts.tsx';
import { useCheckout } from './queries.ts';

type CheckoutObject = Schemas['CheckoutWithAttempts'];
type Attempt = CheckoutObject['attempts'][number];

export function Checkout() {
  const { id } = useParams<{ id: string }>();
  const query = useCheckout(id);
  return (
    <ObjectPage noun="Checkout" query={query}>
      {(checkout) => (
        <>
          {checkout.use === 'one_time' && checkout.paid_count > 1 && (
            <Alert color="orange" title="Paid more than once">
              A payment came in late, after another attempt. Refund one of them.
            </Alert>
          )}
          {checkout.state === 'open' && <ForPayers checkout={checkout} />}
          <CheckoutFields checkout={checkout} />
          <OwnWords {...checkout} />
          <Group justify="space-between">
            <Heading>Attempts</Heading>
            <Anchor component={Link} href={`/collections?checkout_id=${checkout.id}`}>
              In the list of collections
            </Anchor>
          </Group>
          <Rows
            label="Attempts"
            columns={COLUMNS}
            rows={checkout.attempts.map((attempt) => ({ ...attempt, id: attempt.collection_id }))}
            empty="Nobody has tried to pay yet."
          />
        </>
      )}
    </ObjectPage>
  );
}

function ForPayers({ checkout: { id, url, reference } }: { readonly checkout: CheckoutObject }) {
  const mayCancel = useMayMakeCheckouts();
  const [isCancelling, setCancelling] = useState(false);
  const cancel = () => answerOf(api.DELETE('/v1/console/checkouts/{id}', { params: { path: { id } } }));
  return (
    <Group align="start">
      <QrCode text={url} label={`QR code of the checkout ${reference}`} />
      <Stack maw={480}>
        <Text>Anyone who scans the code or opens the link can pay:</Text>
        <CopyText text={url} what="link" />
        <Group>
          <Button component="a" href={url} target="_blank" rel="noopener" variant="default">
            Open the page
          </Button>
          {mayCancel && (
            <Button variant="default" onClick={() => setCancelling(true)}>
              Cancel it…
            </Button>
          )}
        </Group>
      </Stack>
      {isCancelling && (
        <ConfirmModal
          title={
            <>
              Cancel the checkout “<MerchantText text={reference} />”
            </>
          }
          verb="Cancel the checkout"
          isDestructive
          operationId="cancelCheckout"
          act={cancel}
          onClose={() => setCancelling(false)}
        >
          <Text>
            The checkout accepts no more payments. A payer can still approve a prompt that is already on the phone.
          </Text>
        </ConfirmModal>
      )}
    </Group>
  );
}

function timesOf(count: number): string {
  if (count === 0) return 'not yet';
  return count === 1 ? 'once' : `${count} times`;
}

function CheckoutFields({ checkout }: { readonly checkout: CheckoutObject }) {
  return (
    <Fields
      label="The checkout"
      fields={[
        ['State', <StateBadge key="state" state={checkout.state} />],
        ['Amount', <Amount key="amount" amount={checkout.amount} currency={checkout.currency} />],
        ['Use', formatCode(checkout.use)],
        ['Paid', timesOf(checkout.paid_count)],
        ['Continues to', checkout.return_url === null ? '–' : <MerchantText key="url" text={checkout.return_url} />],
        ['Made by', <Person key="maker" person={checkout.created_by} />],
        ['Created', <Moment key="created" at={checkout.created_at} />],
        ['Expires', checkout.expires_at === null ? 'never' : <Moment key="expires" at={checkout.expires_at} />],
        checkout.cancelled_at !== null && ['Cancelled', <Moment key="cancelled" at={checkout.cancelled_at} />],
        ['Id', <CopyText key="id" text={checkout.id} what="id" />],
      ]}
    />
  );
}

const COLUMNS: readonly Column<Attempt & { readonly id: string }>[] = [
  {
    title: 'Phone',
    cell: ({ collection_id: id, phone }) => (
      <Anchor component={Link} inherit href={`/collections/${id}`} className="row-link">
        <Phone phone={phone} />
      </Anchor>
    ),
  },
  { title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
  { title: 'Why', cell: ({ failure }) => failure?.message ?? '' },
  { title: 'Begun', cell: ({ created_at }) => <Moment at={created_at} /> },
];
