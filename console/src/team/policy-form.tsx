// Changes the policy: stricter rules apply at once, looser ones wait for a second person.
import { Alert, Checkbox, NativeSelect, TextInput } from '@mantine/core';
import { useState } from 'react';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { useSession } from '../session/session.ts';
import { FormModal } from '../ui/modals.tsx';
import { AmountField } from '../ui/amount-field.tsx';
import { formatAmount, readAmount } from '../ui/format.ts';
import { useStepUpAct } from '../ui/use-act.ts';
import { ALL_RULES, inUnit, parseTime, RULES, UNIT_NAMES, type PolicyValues, type Rule, type Unit } from './rules.ts';

type PolicyFormProps = {
  readonly policy: PolicyValues;
  /** Reports the outcome. */
  readonly onChanged: (text: string) => void;
  readonly onClose: () => void;
};

type Draft = Partial<Record<Rule, boolean | number | null | 'wrong'>>;

export function PolicyForm({ policy, onChanged, onClose }: PolicyFormProps) {
  // The policy when the form was opened: only values that the person changed are sent.
  const [before] = useState(policy);
  const [draft, setDraft] = useState<Draft>({});
  const changes = ALL_RULES.filter((rule) => draft[rule] !== undefined && draft[rule] !== before[rule]);
  const isWrong = changes.some((rule) => draft[rule] === 'wrong');
  const change = useStepUpAct('changePolicy', async () => {
    const body = Object.fromEntries(changes.map((rule) => [rule, draft[rule]])) as Schemas['ChangePolicy'];
    onChanged(outcomeOf(await answerOf(api.PATCH('/v1/console/policy', { body }))));
  });
  return (
    <FormModal
      title="Change the policy"
      size="lg"
      act={change}
      verb={changes.length > 1 ? `Change ${changes.length} rules` : 'Change it'}
      isDisabled={changes.length === 0 || isWrong}
      onClose={onClose}
    >
      <Alert color="blue">
        A change that loosens no rule applies at once. A change that loosens any rule waits up to seven days for the
        approval of a second owner or admin.
      </Alert>
      {ALL_RULES.map((rule) => (
        <RuleInput
          key={rule}
          rule={rule}
          before={before[rule]}
          error={change.byParam[rule]}
          onChange={(value) => setDraft((others) => ({ ...others, [rule]: value }))}
        />
      ))}
    </FormModal>
  );
}

function outcomeOf(answer: Schemas['PolicyValues'] | Schemas['ProposedPolicyChange']): string {
  if (!('proposed_by' in answer)) return 'The policy is changed and in force.';
  return answer.needs_second_person
    ? 'It is proposed, but no member can approve it: invite a second owner or admin first.'
    : 'It is proposed. It loosens a rule, so another owner or admin must approve it first.';
}

type RuleInputProps = {
  readonly rule: Rule;
  readonly before: boolean | number | null;
  readonly error: string | undefined;
  readonly onChange: (value: boolean | number | null | 'wrong') => void;
};

function RuleInput({ rule, before, error, onChange }: RuleInputProps) {
  const { name, what, kind } = RULES[rule];
  if (kind === 'yes_or_no') {
    return (
      <Checkbox
        label={name}
        description={what}
        defaultChecked={before === true}
        error={error}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
    );
  }
  const number = typeof before === 'number' ? before : null;
  return kind === 'amount' ? (
    <AmountInput rule={rule} before={number} error={error} onChange={onChange} />
  ) : (
    <TimeInput rule={rule} before={number} error={error} onChange={onChange} />
  );
}

type NumberInputProps = {
  readonly rule: Rule;
  readonly before: number | null;
  readonly error: string | undefined;
  readonly onChange: (value: number | null | 'wrong') => void;
};

function AmountInput({ rule, before, error, onChange }: NumberInputProps) {
  const { currency } = useSession().merchant;
  const { name, what, empty } = RULES[rule];
  const [text, setText] = useState(before === null ? '' : formatAmount(before, currency));
  return (
    <AmountField
      label={`${name}, in`}
      description={`${what} If empty: ${empty}.`}
      least={0}
      value={text}
      error={error}
      onText={(typed) => {
        setText(typed);
        const limit = typed.trim() === '' ? null : readAmount(typed, currency, { least: 0 });
        onChange(limit?.kind === 'refused' ? 'wrong' : (limit?.amount ?? null));
      }}
    />
  );
}

function TimeInput({ rule, before, error, onChange }: NumberInputProps) {
  const { name, what, empty } = RULES[rule];
  const [begun] = useState(() => (before === null ? { count: '', unit: 'hours' as Unit } : inUnit(before)));
  const [text, setText] = useState(String(begun.count));
  const [unit, setUnit] = useState<Unit>(begun.unit);
  const isWrong = parseTime(text, unit) === 'wrong';
  return (
    <TextInput
      label={name}
      description={`${what} If empty: ${empty}.`}
      inputMode="numeric"
      autoComplete="off"
      value={text}
      error={isWrong ? 'This is not a whole number.' : error}
      onChange={({ currentTarget: { value } }) => {
        setText(value);
        onChange(parseTime(value, unit));
      }}
      rightSectionWidth={110}
      rightSection={
        <NativeSelect
          aria-label={`${name}: unit`}
          variant="unstyled"
          rightSectionWidth={28}
          w={100}
          data={[...UNIT_NAMES]}
          value={unit}
          onChange={({ currentTarget: { value } }) => {
            setUnit(value as Unit);
            onChange(parseTime(text, value as Unit));
          }}
        />
      }
    />
  );
}
