// Rolls an API key: a new one replaces it, and the old one may stay valid until every server has the new one.
import { Text } from '@mantine/core';
import { useState } from 'react';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { FormModal } from '../ui/modals.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { MomentInput } from '../ui/moment.tsx';
import { ONE_DAY_SECONDS, OverlapChoice } from '../ui/overlap-choice.tsx';
import type { Secret } from '../ui/secret-modal.tsx';
import { useStepUpAct } from '../ui/use-act.ts';
import { secretOf } from './create-key.tsx';

type RollKeyModalProps = {
  readonly apiKey: Schemas['ApiKey'];
  readonly onMade: (secret: Secret) => void;
  readonly onClose: () => void;
};

export function RollKeyModal({ apiKey: { id, name, hint, scopes }, onMade, onClose }: RollKeyModalProps) {
  const [seconds, setSeconds] = useState(ONE_DAY_SECONDS);
  const [expiresAt, setExpiresAt] = useState('');
  const roll = useStepUpAct('rollApiKey', async () => {
    const body = { keep_old_for: seconds, ...(expiresAt !== '' && { expires_at: expiresAt }) };
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
      <OverlapChoice
        label="The old key stays valid for"
        description="Long enough for every server to get the new key. If somebody else may have the old key: not at all."
        hours={[1, 6, 24, 48, 72]}
        none="it is revoked now"
        seconds={seconds}
        error={roll.byParam['keep_old_for']}
        onSeconds={setSeconds}
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
