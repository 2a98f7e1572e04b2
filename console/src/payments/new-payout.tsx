// Making a payout: its fields, then the same once more as whoever releases it will see them.
import { Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import { useLocation } from 'wouter';
import { ApiError } from '../api/api-error.ts';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { withIdempotencyKey } from '../api/idempotency-key.ts';
import { useSession } from '../session/session.ts';
import { Amount } from '../ui/amount.tsx';
import { Field } from '../ui/field.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { Fields } from '../ui/fields.tsx';
import { amountInWords, formatAmount, parseAmount } from '../ui/format.ts';
import { Page } from '../ui/page.tsx';
import { useAct } from '../ui/use-act.ts';
import { useRefresh } from '../ui/use-refresh.ts';
import { Phone } from './cells.tsx';
import { useBalance } from './queries.ts';

type Draft = Schemas['CreatePayout'];

export function NewPayout() {
  const [draft, setDraft] = useState<Draft | null>(null);
  const [isChecked, setChecked] = useState(false);
  const [, go] = useLocation();
  const refresh = useRefresh();
  const create = useAct(async (body: Draft) => {
    // The key belongs to these very values: a second try of them after a lost answer makes no second payout.
    const made = await withIdempotencyKey(`payout:${JSON.stringify(body)}`, (key) =>
      answerOf(api.POST('/v1/api/payouts', { body, params: { header: { 'Idempotency-Key': key } } })),
    );
    await refresh();
    go(`/payouts/${made.id}`);
  });
  if (draft !== null && isChecked) {
    return (
      <Page title="Check the payout">
        <CheckedDraft
          draft={draft}
          isBusy={create.isBusy}
          onBack={() => {
            create.forget();
            setChecked(false);
          }}
          onCreate={() => create.run(draft)}
        />
        <ErrorNotice error={create.error} />
      </Page>
    );
  }
  return (
    <Page title="New payout">
      <DraftForm
        draft={draft}
        byParam={create.error instanceof ApiError ? create.error.byParam : {}}
        onDraft={(next) => {
          setDraft(next);
          setChecked(true);
        }}
      />
    </Page>
  );
}

type DraftFormProps = {
  readonly draft: Draft | null;
  readonly byParam: Readonly<Record<string, string>>;
  readonly onDraft: (draft: Draft) => void;
};

function DraftForm({ draft, byParam, onDraft }: DraftFormProps) {
  const { currency } = useSession().merchant;
  const { data: balance } = useBalance();
  const [phone, setPhone] = useState(draft?.phone ?? '');
  const [amount, setAmount] = useState('');
  const [reference, setReference] = useState(draft?.reference ?? '');
  const [description, setDescription] = useState(draft?.description ?? '');
  const minor = parseAmount(amount, currency);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (minor === null) return;
    onDraft({
      phone: phone.replaceAll(/[\s+]/g, ''),
      amount: minor,
      reference: reference.trim(),
      ...(description.trim() !== '' && { description: description.trim() }),
    });
  };
  return (
    <form onSubmit={submit}>
      <Stack maw={480}>
        <Field
          label="Phone of the payee"
          description="With the country code, such as 256 772 123 456"
          inputMode="tel"
          autoComplete="off"
          required
          value={phone}
          error={byParam['phone']}
          onText={setPhone}
        />
        <Field
          label={`Amount in ${currency}`}
          description={balance && `${formatAmount(balance.available, currency)} ${currency} available`}
          inputMode="decimal"
          autoComplete="off"
          required
          value={amount}
          error={byParam['amount'] ?? (amount !== '' && minor === null && `This is no amount in ${currency}.`)}
          onText={setAmount}
        />
        <Field
          label="Reference"
          description="Yours: an invoice, an order. The payee sees it where the operator shows it."
          maxLength={100}
          required
          value={reference}
          error={byParam['reference']}
          onText={setReference}
        />
        <Textarea
          label="Description"
          maxLength={120}
          value={description}
          error={byParam['description']}
          onChange={({ currentTarget }) => setDescription(currentTarget.value)}
        />
        <Group>
          <Button type="submit" disabled={minor === null}>
            Check it
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

type CheckedDraftProps = {
  readonly draft: Draft;
  readonly isBusy: boolean;
  readonly onBack: () => void;
  readonly onCreate: () => void;
};

function CheckedDraft({ draft, isBusy, onBack, onCreate }: CheckedDraftProps) {
  const { currency } = useSession().merchant;
  return (
    <Stack maw={640}>
      <Fields
        label="The payout"
        fields={[
          ['Payee', <Phone key="phone" phone={draft.phone} />],
          ['Amount', <Amount key="amount" amount={draft.amount} currency={currency} />],
          ['In words', amountInWords(draft.amount, currency)],
          ['Reference', draft.reference],
          ['Description', draft.description ?? '–'],
        ]}
      />
      <Text size="sm" c="dimmed">
        Its amount is held from now on. It is sent once another person has released it.
      </Text>
      <Group>
        <Button variant="default" onClick={onBack} disabled={isBusy}>
          Change it
        </Button>
        <Button onClick={onCreate} loading={isBusy}>
          Make the payout
        </Button>
      </Group>
    </Stack>
  );
}
