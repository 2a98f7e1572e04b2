// Decides who sees a link to the workflow of a payment or refund in the Temporal UI.
import { holdsOneOf, type Person } from '../domain/accounts/member.ts';
import type { WorkflowLinks } from '../temporal/workflow-links.ts';

export type LinkDeps = {
  readonly workflowLinks: WorkflowLinks | null;
};

/** For people who look for causes; others have no use for the link. */
export function linksFor(person: Person, { workflowLinks }: LinkDeps): WorkflowLinks | null {
  return holdsOneOf(person.roles, ['developer', 'admin']) ? workflowLinks : null;
}
