// Who is shown where the Temporal UI shows the workflow of a payment or refund.
import { holdsOneOf, type Person } from '../domain/accounts/member.ts';
import type { WorkflowLinks } from '../temporal/workflow-links.ts';

export type LinkDeps = {
  readonly workflowLinks: WorkflowLinks | null;
};

/** For those who look for causes; everybody else has no use for it. */
export function linksFor(person: Person, { workflowLinks }: LinkDeps): WorkflowLinks | null {
  return holdsOneOf(person.roles, ['developer', 'admin']) ? workflowLinks : null;
}
