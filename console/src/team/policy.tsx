// The policy in force, each rule with its effect, and the proposals to change it.
import { Alert, Button, Text } from '@mantine/core';
import { useState } from 'react';
import { hasRole, useSession } from '../session/session.ts';
import { Loaded, Page, Part } from '../ui/page.tsx';
import { Rows, type Column } from '../ui/rows.tsx';
import { WaitingPolicyChange } from './policy-changes.tsx';
import { PolicyForm } from './policy-form.tsx';
import { usePolicy } from './queries.ts';
import { ALL_RULES, formatRule, RULES, type PolicyValues, type Rule } from './rules.ts';

export function Policy() {
  const session = useSession();
  const query = usePolicy();
  const [isChanging, setChanging] = useState(false);
  const [notice, setNotice] = useState<string | null>(null);
  const change = hasRole(session, 'admin') && (
    <Button disabled={query.data === undefined} onClick={() => setChanging(true)}>
      Change the policy…
    </Button>
  );
  return (
    <Page title="Policy" actions={change}>
      <Text c="dimmed">Your own rules for payouts and releases, in addition to the rules that always apply.</Text>
      {notice !== null && (
        <Alert color="blue" title={notice} withCloseButton closeButtonLabel="Close" onClose={() => setNotice(null)} />
      )}
      <Loaded query={query}>
        {(policy) => (
          <>
            {policy.pending_changes.length > 0 && (
              <Part title="Waiting for a second person">
                {policy.pending_changes.map((proposed) => (
                  <WaitingPolicyChange key={proposed.id} policy={policy} change={proposed} />
                ))}
              </Part>
            )}
            <Part title="In force">
              <Values policy={policy} />
            </Part>
            {isChanging && (
              <PolicyForm
                policy={policy}
                onChanged={(text) => {
                  setChanging(false);
                  setNotice(text);
                }}
                onClose={() => setChanging(false)}
              />
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Values({ policy }: { readonly policy: PolicyValues }) {
  const { currency } = useSession().merchant;
  const columns: readonly Column<{ readonly id: Rule }>[] = [
    {
      title: 'Rule',
      cell: ({ id }) => (
        <>
          <Text inherit fw={600}>
            {RULES[id].name}
          </Text>
          <Text size="sm" c="dimmed">
            {RULES[id].what}
          </Text>
        </>
      ),
    },
    {
      title: 'Value',
      cell: ({ id }) => (
        <Text inherit {...(policy[id] === null && { c: 'dimmed' })}>
          {formatRule(id, policy[id], currency)}
        </Text>
      ),
    },
  ];
  return <Rows label="Rules in force" columns={columns} rows={ALL_RULES.map((id) => ({ id }))} empty="" />;
}
