// The choice among the merchants of a person: after the log-in, and whenever they act for another one.
import { Button, Modal, NavLink, Stack, Text } from '@mantine/core';
import { answerOf, api } from '../api/client.ts';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { useAct } from '../ui/use-act.ts';
import { Entrance } from './entrance.tsx';
import { useReplaceSession, type Session } from './session.ts';
import { useStepUp } from './step-up.tsx';

type ChooseProps = { readonly session: Session };

/** Directly after a log-in, which is verification enough. */
export function ChooseMerchant({ session, onChosen }: ChooseProps & { readonly onChosen: () => void }) {
  const replaceSession = useReplaceSession();
  const choose = useAct(async (id: string) => {
    replaceSession(id === session.merchant.id ? session : await switchTo(id));
    onChosen();
  });
  return (
    <Entrance title="Choose the merchant">
      <Stack>
        <Merchants merchants={session.merchants} isBusy={choose.isBusy} onChoose={choose.run} />
        <ErrorNotice error={choose.error} />
        {choose.error !== null && (
          <Button variant="default" onClick={() => window.location.reload()}>
            Start again
          </Button>
        )}
      </Stack>
    </Entrance>
  );
}

export function SwitchMerchant({ session, onClose }: ChooseProps & { readonly onClose: () => void }) {
  const replaceSession = useReplaceSession();
  const stepUp = useStepUp();
  const choose = useAct(async (id: string) => {
    await stepUp('switchMerchant');
    replaceSession(await switchTo(id));
  });
  const others = session.merchants.filter(({ id }) => id !== session.merchant.id);
  return (
    <Modal opened onClose={onClose} title="Act for another merchant" centered>
      <Stack>
        <Merchants merchants={others} isBusy={choose.isBusy} onChoose={choose.run} />
        <ErrorNotice error={choose.error} />
        <Text size="sm" c="dimmed">
          Every page in this browser then acts for that merchant. Input that you have not sent is lost.
        </Text>
      </Stack>
    </Modal>
  );
}

function switchTo(id: string): Promise<Session> {
  return answerOf(api.POST('/v1/console/session/merchant', { body: { merchant_id: id } }));
}

type MerchantsProps = {
  readonly merchants: Session['merchants'];
  readonly isBusy: boolean;
  readonly onChoose: (id: string) => void;
};

/** With their ids: two may have the same name. */
function Merchants({ merchants, isBusy, onChoose }: MerchantsProps) {
  return merchants.map(({ id, name }) => (
    <NavLink
      key={id}
      component="button"
      className="wraps"
      bd="1px solid var(--mantine-color-default-border)"
      bdrs="md"
      label={<MerchantText text={name} isLink />}
      description={id}
      disabled={isBusy}
      onClick={() => onChoose(id)}
    />
  ));
}
