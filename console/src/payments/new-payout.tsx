// Creates a payout: its fields, then the payout as its approver will see it, with the warnings.
import { Alert, Anchor, Button, Group, NativeSelect, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { forgetIdempotencyKey, idempotencyKeyOf, withIdempotencyKey } from '../api/idempotency-key.ts';
import { useSession } from '../session/session.ts';
import { Amount } from '../ui/amount.tsx';
import { AmountField } from '../ui/amount-field.tsx';
import { Field } from '../ui/field.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { Fields } from '../ui/fields.tsx';
import { readTypedPhone, type TypedPhone } from '../../../src/domain/payments/typed-phone.ts';
import type { TypedAmount } from '../../../src/domain/typed-amount.ts';
import { amountInWords, formatAmount, readAmount } from '../ui/format.ts';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment } from '../ui/moment.tsx';
import { OPERATOR_NAMES } from '../ui/operator-names.ts';
import { OwnWords } from '../ui/own-words.tsx';
import { Page } from '../ui/page.tsx';
import { submitting, useAct, useRefresh } from '../ui/use-act.ts';
import { Phone } from './cells.tsx';
import { describeAmounts } from './operator-amounts.ts';
import { useCountries, useOperators, useOperatorsError } from './operators.ts';
import { useBalance } from './queries.ts';
import { EarlierPayouts, Warnings } from './warnings.tsx';

type Draft = Schemas['CreatePayout'];
type Found = Schemas['CheckedPayout'];
/** As the person wrote them. */
type Texts = Readonly<Record<'phone' | 'payee_name' | 'amount' | 'reference' | 'description', string>> & {
  readonly operator: OperatorChoice;
};
/** Empty: derived from the number. */
type OperatorChoice = NonNullable<Draft['operator']> | '';

const NO_TEXTS: Texts = { phone: '', payee_name: '', operator: '', amount: '', reference: '', description: '' };

// The key belongs to these values: a second try with them after a lost answer creates no second payout.
const subjectOf = (draft: Draft) => `payout:${JSON.stringify(draft)}`;

export function NewPayout() {
  const { currency } = useSession().merchant;
  const [texts, setTexts] = useState(NO_TEXTS);
  const countries = useCountries();
  const read = {
    // While the countries are unknown, only a number with its country code is read.
    phone: readTypedPhone(texts.phone, countries ?? []),
    amount: readAmount(texts.amount, currency),
  };
  const draft = draftOf(texts, read);
  const [found, setFound] = useState<Found | null>(null);
  const [checked, setChecked] = useState<Draft | null>(null);
  const [, go] = useLocation();
  const refresh = useRefresh();
  const check = useAct(async () => {
    if (draft === null) return;
    const answer = await checkDraft(draft);
    setFound(answer);
    if (answer.errors.length === 0) setChecked(draft);
  });
  const create = useAct(async (body: Draft) => {
    const created = await withIdempotencyKey(subjectOf(body), (key) =>
      answerOf(api.POST('/v1/api/payouts', { body, params: { header: { 'Idempotency-Key': key } } })),
    );
    await refresh();
    go(`/payouts/${created.id}`);
  });
  if (found !== null && checked !== null) {
    return (
      <Page title="Check the payout">
        <CheckedDraft
          draft={checked}
          found={found}
          isBusy={create.isBusy}
          onBack={() => {
            create.forget();
            setChecked(null);
          }}
          onCreate={() => create.run(checked)}
        />
        <ErrorNotice error={create.error} />
      </Page>
    );
  }
  return (
    <Page title="New payout">
      <form onSubmit={submitting(check)}>
        <Stack maw={480}>
          <DraftFields
            texts={texts}
            read={read}
            errors={found?.errors ?? []}
            set={(name, text) => {
              setTexts({ ...texts, [name]: text });
              // The check was of earlier values.
              setFound(null);
            }}
          />
          <Group>
            <Button type="submit" loading={check.isBusy} disabled={draft === null}>
              Check it
            </Button>
          </Group>
          <ErrorNotice error={check.error} />
        </Stack>
      </form>
    </Page>
  );
}

/** The meaning of the texts. */
type Read = { readonly phone: TypedPhone; readonly amount: TypedAmount };

/** The form of the API; null while phone or amount are ambiguous or invalid. */
function draftOf({ payee_name: name, reference, description, operator }: Texts, { phone, amount }: Read): Draft | null {
  if (phone.kind !== 'phone' || amount.kind !== 'amount') return null;
  return {
    phone: phone.phone.digits,
    amount: amount.amount,
    reference: reference.trim(),
    ...(operator !== '' && { operator }),
    ...(name.trim() !== '' && { payee_name: name.trim() }),
    ...(description.trim() !== '' && { description: description.trim() }),
  };
}

/** Under the key of the draft's next request, so that a payout behind a lost answer is found. */
async function checkDraft(draft: Draft): Promise<Found> {
  const rows = [{ idempotency_keys: [idempotencyKeyOf(subjectOf(draft))], payout: draft }];
  const { data } = await answerOf(api.POST('/v1/console/payouts/check', { body: { rows } }));
  const [found] = data;
  if (found === undefined) throw new Error('the check of a payout was answered without one');
  // A person who wants the same payout again creates another one.
  if (found.payout !== null) forgetIdempotencyKey(subjectOf(draft));
  return found;
}

type DraftFieldsProps = {
  readonly texts: Texts;
  readonly read: Read;
  readonly errors: Found['errors'];
  readonly set: (name: keyof Texts, text: string) => void;
};

function DraftFields({ texts, read, errors, set }: DraftFieldsProps) {
  const { currency } = useSession().merchant;
  const { data: balance } = useBalance();
  const errorOf = (name: string) => errors.find(({ param }) => param === name)?.message;
  const elsewhere = errors.filter(({ param }) => !(param in texts));
  const country = read.phone.kind === 'phone' ? read.phone.phone.country : null;
  const amounts = describeAmounts(useOperators(), { kind: 'payouts', currency, country, operator: texts.operator });
  const bound = (name: 'amount' | 'reference' | 'payee_name') => ({
    value: texts[name],
    error: errorOf(name),
    onText: (text: string) => set(name, text),
  });
  return (
    <>
      <ErrorNotice error={useOperatorsError()} />
      <Field
        label="Phone of the payee"
        description="With the country code, such as 256 772 123 456, or as it is dialled in your country"
        inputMode="tel"
        autoComplete="off"
        required
        value={texts.phone}
        error={errorOf('phone') ?? messageOf(texts.phone, read.phone)}
        onText={(text) => set('phone', text)}
      />
      <Field
        label="Name of the payee"
        description="If you know it: the approver is warned if the operator has another one."
        maxLength={100}
        autoComplete="off"
        {...bound('payee_name')}
      />
      <OperatorSelect
        value={texts.operator}
        error={errorOf('operator')}
        onChange={(operator) => set('operator', operator)}
      />
      <AmountField
        description={`${balance ? `${formatAmount(balance.available, currency)} ${currency} available. ` : ''}${amounts}`}
        required
        {...bound('amount')}
      />
      <Field
        label="Reference"
        description="Yours: an invoice, an order. The payee sees it where the operator shows it."
        maxLength={100}
        required
        {...bound('reference')}
      />
      <Textarea
        label="Description"
        maxLength={120}
        value={texts.description}
        error={errorOf('description')}
        onChange={({ currentTarget }) => set('description', currentTarget.value)}
      />
      {elsewhere.map(({ param, message }) => (
        <Alert key={param} color="red" role="alert" title={message} />
      ))}
    </>
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

/** Why the text is refused; undefined if it is accepted, or empty. */
function messageOf(text: string, read: TypedPhone): string | undefined {
  return text !== '' && 'message' in read ? read.message : undefined;
}

type CheckedDraftProps = {
  readonly draft: Draft;
  readonly found: Found;
  readonly isBusy: boolean;
  readonly onBack: () => void;
  readonly onCreate: () => void;
};

function CheckedDraft({ draft, found, isBusy, onBack, onCreate }: CheckedDraftProps) {
  const { merchant, merchants } = useSession();
  const { currency } = merchant;
  const { judgement, operator, payout: made } = found;
  return (
    <Stack maw={640}>
      {made === null ? (
        <Warnings judgement={judgement} currency={currency} isApart />
      ) : (
        <Alert color="orange" title="This payout was made already">
          The response was lost:{' '}
          <Anchor component={Link} inherit href={`/payouts/${made.id}`}>
            see it
          </Anchor>
          , <Moment at={made.created_at} />, {made.state}. To make the same once more, check it again.
        </Alert>
      )}
      <Fields
        label="The payout"
        fields={[
          // On a small screen the bar at the top has no room for the whole name.
          merchants.length > 1 && ['Paid by', <MerchantText key="merchant" text={merchant.name} />],
          ['Payee', <Phone key="phone" phone={draft.phone} />],
          ['Operator', OPERATOR_NAMES[operator ?? ''] ?? operator],
          ['Amount', <Amount key="amount" amount={draft.amount} currency={currency} />],
          ['In words', amountInWords(draft.amount, currency)],
          [
            'Earlier payouts to this number',
            <EarlierPayouts key="earlier" judgement={judgement} currency={currency} isApart />,
          ],
        ]}
      />
      <OwnWords
        reference={draft.reference}
        description={draft.description ?? null}
        payeeName={draft.payee_name ?? null}
      />
      {made === null && (
        <Text size="sm" c="dimmed">
          Its amount is held from now on. It is sent once another person has released it.
        </Text>
      )}
      <Group>
        <Button variant="default" onClick={onBack} disabled={isBusy}>
          Change it
        </Button>
        {made === null && (
          <Button onClick={onCreate} loading={isBusy}>
            Make the payout
          </Button>
        )}
      </Group>
    </Stack>
  );
}
