// Creates a checkout. It moves no money by itself, so it is created without a confirmation.
import { Button, Group, NativeSelect, Stack, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { withIdempotencyKey } from '../api/idempotency-key.ts';
import { describeAmounts } from '../payments/operator-amounts.ts';
import { useOperators } from '../payments/operators.ts';
import { useSession } from '../session/session.ts';
import { AmountField } from '../ui/amount-field.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { Field } from '../ui/field.tsx';
import { readAmount } from '../ui/format.ts';
import { MomentInput } from '../ui/moment.tsx';
import { Page } from '../ui/page.tsx';
import { submitting, useAct, useRefresh } from '../ui/use-act.ts';

type Draft = Schemas['CreateCheckout'];
type Texts = Readonly<Record<'amount' | 'reference' | 'description' | 'expiresAt' | 'returnUrl', string>>;

export function NewCheckout() {
  const { currency } = useSession().merchant;
  const [, go] = useLocation();
  const refresh = useRefresh();
  const [texts, setTexts] = useState<Texts>({
    amount: '',
    reference: '',
    description: '',
    expiresAt: '',
    returnUrl: '',
  });
  const [use, setUse] = useState<NonNullable<Draft['use']>>('one_time');
  const create = useAct(async () => {
    const body = draftOf(texts, use, currency);
    if (body === null) return;
    // A second try with the same values after a lost answer creates no second checkout.
    const made = await withIdempotencyKey(`checkout:${JSON.stringify(body)}`, (key) =>
      answerOf(api.POST('/v1/console/checkouts', { body, params: { header: { 'Idempotency-Key': key } } })),
    );
    await refresh();
    go(`/checkouts/${made.id}`);
  });
  return (
    <Page title="New checkout">
      <form onSubmit={submitting(create)}>
        <Stack maw={480}>
          <TextFields
            texts={texts}
            byParam={create.byParam}
            isReusable={use === 'reusable'}
            set={(name, text) => setTexts({ ...texts, [name]: text })}
          />
          <NativeSelect
            label="Use"
            value={use}
            onChange={({ currentTarget }) => setUse(currentTarget.value as typeof use)}
            data={[
              { value: 'one_time', label: 'for one payment' },
              { value: 'reusable', label: 'again and again, such as at a till' },
            ]}
          />
          <Group>
            <Button type="submit" loading={create.isBusy}>
              Make the checkout
            </Button>
          </Group>
          <ErrorNotice error={create.error} />
        </Stack>
      </form>
    </Page>
  );
}

/** The form of the API; null while the amount is invalid. */
function draftOf(texts: Texts, use: NonNullable<Draft['use']>, currency: string): Draft | null {
  const typed = readAmount(texts.amount, currency);
  if (typed.kind !== 'amount') return null;
  const { reference, description, expiresAt, returnUrl } = texts;
  return {
    amount: typed.amount,
    reference: reference.trim(),
    use,
    ...(description.trim() !== '' && { description: description.trim() }),
    ...(expiresAt !== '' && { expires_at: expiresAt }),
    ...(returnUrl.trim() !== '' && { return_url: returnUrl.trim() }),
  };
}

type TextFieldsProps = {
  readonly texts: Texts;
  readonly byParam: Readonly<Record<string, string>>;
  readonly isReusable: boolean;
  readonly set: (name: keyof Texts, text: string) => void;
};

function TextFields({ texts, byParam, isReusable, set }: TextFieldsProps) {
  const { currency } = useSession().merchant;
  const bound = (name: keyof Texts, param: string = name) => ({
    value: texts[name],
    error: byParam[param],
    onText: (text: string) => set(name, text),
  });
  return (
    <>
      <AmountField
        description={describeAmounts(useOperators(), { kind: 'collections', currency })}
        required
        {...bound('amount')}
      />
      <Field
        label="Reference"
        description="Yours: an invoice, an order, a till."
        maxLength={100}
        required
        {...bound('reference')}
      />
      <Textarea
        label="Description"
        description="The payer reads it."
        maxLength={120}
        value={texts.description}
        error={byParam['description']}
        onChange={({ currentTarget }) => set('description', currentTarget.value)}
      />
      <MomentInput
        label="Takes payments until"
        description={isReusable ? 'If empty: no end.' : 'If empty: seven days.'}
        value={texts.expiresAt}
        error={byParam['expires_at']}
        onChange={(text) => set('expiresAt', text)}
      />
      <Field
        label="Address to continue to"
        description="Your https://… address, linked to when the payer is done. A visitor who follows the link is no proof of payment."
        inputMode="url"
        autoComplete="off"
        {...bound('returnUrl', 'return_url')}
      />
    </>
  );
}
