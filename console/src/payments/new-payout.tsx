// Making a payout: its fields, then the same once more as whoever releases it will see them.
import { Button, Group, NativeSelect, Stack, Text, Textarea } from '@mantine/core';
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
import type { TypedAmount } from '../../../src/domain/typed-amount.ts';
import { readTypedPhone, type TypedPhone } from '../../../src/domain/payments/typed-phone.ts';
import { amountInWords, formatAmount, readAmount } from '../ui/format.ts';
import { OPERATOR_NAMES } from '../ui/operator-names.ts';
import { Page } from '../ui/page.tsx';
import { useAct } from '../ui/use-act.ts';
import { useRefresh } from '../ui/use-refresh.ts';
import { Phone } from './cells.tsx';
import { useCountries, useOperators } from './operators.ts';
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

type OperatorChoice = NonNullable<Draft['operator']> | '';

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
  const [operator, setOperator] = useState<OperatorChoice>(draft?.operator ?? '');
  const countries = useCountries();
  const typedPhone = countries && readTypedPhone(phone, countries);
  const typedAmount = readAmount(amount, currency);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (typedPhone?.kind !== 'phone' || typedAmount.kind !== 'amount') return;
    onDraft({
      phone: typedPhone.phone.digits,
      amount: typedAmount.amount,
      reference: reference.trim(),
      ...(operator !== '' && { operator }),
      ...(description.trim() !== '' && { description: description.trim() }),
    });
  };
  return (
    <form onSubmit={submit}>
      <Stack maw={480}>
        <PhoneField value={phone} error={byParam['phone'] ?? messageOf(phone, typedPhone)} onText={setPhone} />
        <OperatorSelect value={operator} error={byParam['operator']} onChange={setOperator} />
        <Field
          label={`Amount in ${currency}`}
          description={balance && `${formatAmount(balance.available, currency)} ${currency} available`}
          inputMode="decimal"
          autoComplete="off"
          required
          value={amount}
          error={byParam['amount'] ?? messageOf(amount, typedAmount)}
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
          <Button type="submit" disabled={typedPhone?.kind !== 'phone' || typedAmount.kind !== 'amount'}>
            Check it
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

type OperatorSelectProps = {
  readonly value: OperatorChoice;
  readonly error: string | undefined;
  readonly onChange: (operator: OperatorChoice) => void;
};

function OperatorSelect({ value, error, onChange }: OperatorSelectProps) {
  const operators = useOperators().map(({ id, name }) => ({ value: id, label: name }));
  return (
    <NativeSelect
      label="Operator"
      description="Only where the number was moved from another operator."
      data={[{ value: '', label: 'by the number' }, ...operators]}
      value={value}
      error={error}
      onChange={({ currentTarget }) => onChange(currentTarget.value as OperatorChoice)}
    />
  );
}

type PhoneFieldProps = {
  readonly value: string;
  readonly error: string | undefined;
  readonly onText: (text: string) => void;
};

function PhoneField(props: PhoneFieldProps) {
  return (
    <Field
      {...props}
      label="Phone of the payee"
      description="With the country code, such as 256 772 123 456, or as it is dialled in your country"
      inputMode="tel"
      autoComplete="off"
      required
    />
  );
}

/** Why the text is not taken; undefined where it is, or where nothing is typed yet. */
function messageOf(text: string, typed: TypedPhone | TypedAmount | undefined): string | undefined {
  return text !== '' && typed !== undefined && 'message' in typed ? typed.message : undefined;
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
          ...(draft.operator === undefined ? [] : [['Operator', OPERATOR_NAMES[draft.operator]] as const]),
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
