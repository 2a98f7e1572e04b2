// The decisions that this person may make on a waiting payout or refund, or why they may not release it.
import { Alert, Button, Group } from '@mantine/core';

export type Decision = 'release' | 'reject' | 'cancel';

type DecisionChoiceProps = {
  readonly noun: 'payout' | 'refund';
  /** Why this person cannot release it; null if they can. */
  readonly refusal: string | null;
  /** Whether they made it and may therefore cancel it. */
  readonly isOwn: boolean;
  readonly onChoose: (decision: Decision) => void;
};

export function DecisionChoice({ noun, refusal, isOwn, onChoose }: DecisionChoiceProps) {
  return (
    <>
      {refusal === null ? (
        <Group>
          <Button onClick={() => onChoose('release')}>Release…</Button>
          <Button variant="default" onClick={() => onChoose('reject')}>
            Reject…
          </Button>
        </Group>
      ) : (
        <Alert color="blue" title="Waiting for a release">
          {refusal}
        </Alert>
      )}
      {isOwn && (
        <Button variant="default" w="fit-content" onClick={() => onChoose('cancel')}>
          Cancel the {noun}…
        </Button>
      )}
    </>
  );
}

/** The choices of a maker after the release, while nobody has tried to send it. */
export function CancelChoice({ noun, onChoose }: Pick<DecisionChoiceProps, 'noun' | 'onChoose'>) {
  return (
    <Alert color="blue" title="Released, and not sent yet">
      <Button variant="default" onClick={() => onChoose('cancel')}>
        Cancel the {noun}…
      </Button>
    </Alert>
  );
}
