// Rolls an API key: a new one replaces it, and the old one may stay valid until every server has the new one.
import { NativeSelect, Text } from '@mantine/core';
import { useState } from 'react';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { FormModal } from '../ui/modals.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { MomentInput } from '../ui/moment.tsx';
import type { Secret } from '../ui/secret-modal.tsx';
import { useStepUpAct } from '../ui/use-act.ts';
import { secretOf } from './create-key.tsx';

const HOUR_SECONDS = 3600;
const OVERLAPS = [
  { value: '0', label: 'not at all: it is revoked now' },
  { value: '1', label: '1 hour' },
  { value: '6', label: '6 hours' },
  { value: '24', label: '24 hours' },
  { value: '48', label: '48 hours' },
  { value: '72', label: '72 hours' },
];

type RollKeyModalProps = {
  readonly apiKey: Schemas['ApiKey'];
  readonly onMade: (secret: Secret) => void;
  readonly onClose: () => void;
};

export function RollKeyModal({ apiKey: { id, name, hint, scopes }, onMade, onClose }: RollKeyModalProps) {
  const [hours, setHours] = useState('24');
  const [expiresAt, setExpiresAt] = useState('');
  const roll = useStepUpAct('rollApiKey', async () => {
    const body = { keep_old_for: Number(hours) * HOUR_SECONDS, ...(expiresAt !== '' && { expires_at: expiresAt }) };
    onMade(secretOf(await answerOf(api.POST('/v1/console/keys/{id}/roll', { body, params: { path: { id } } }))));
  });
  return (
    <FormModal
      title={
        <>
          Roll “<MerchantText text={name} />”
        </>
      }
      act={roll}
      verb="Roll it"
      onClose={onClose}
    >
      <Text size="sm">
        A new key takes the place of {hint}, with the same name, scopes and allowed addresses.
        {scopes.includes('payouts:write') && ' You become the maker of its payouts, so you cannot release them.'}
      </Text>
      <NativeSelect
        label="The old key stays valid for"
        description="Long enough for every server to get the new key. If somebody else may have the old key: not at all."
        data={OVERLAPS}
        value={hours}
        error={roll.byParam['keep_old_for']}
        onChange={({ currentTarget }) => setHours(currentTarget.value)}
      />
      <MomentInput
        label="The new key ends"
        description={
          scopes.includes('payouts:write')
            ? 'If empty: after as long as the old key was valid when it was created.'
            : 'If empty: when the old key would have ended.'
        }
        value={expiresAt}
        error={roll.byParam['expires_at']}
        onChange={setExpiresAt}
      />
    </FormModal>
  );
}
