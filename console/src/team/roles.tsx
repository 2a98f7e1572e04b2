// The roles in words, and the choice of roles for a person.
import { Checkbox, Stack } from '@mantine/core';
import { hasRole, useSession, type Role } from '../session/session.ts';

const ROLE_WORDS: Readonly<Record<Role, readonly [name: string, what: string]>> = {
  owner: ['Owner', 'Holds every role.'],
  admin: ['Admin', 'Manages people, API keys, endpoints and the policy.'],
  developer: ['Developer', 'Manages endpoints, deliveries, and API keys that make no payouts.'],
  maker: ['Maker', 'Makes collections and payouts, and requests refunds.'],
  approver: ['Approver', 'Releases and rejects payouts and refunds that other people made.'],
  viewer: ['Viewer', 'Sees everything and changes nothing.'],
};

const ROLES = Object.keys(ROLE_WORDS) as Role[];

export function roleNames(roles: readonly Role[]): string {
  return ROLES.filter((role) => roles.includes(role))
    .map((role) => ROLE_WORDS[role][0])
    .join(', ');
}

type RoleChoiceProps = {
  readonly chosen: readonly Role[];
  /** The person's current roles: they may stay, even if the caller cannot grant them. */
  readonly before: readonly Role[];
  readonly error: string | undefined;
  readonly onChange: (chosen: Role[]) => void;
};

export function RoleChoice({ chosen, before, error, onChange }: RoleChoiceProps) {
  const session = useSession();
  return (
    <Checkbox.Group
      label="Roles"
      description="You can give the roles that you hold yourself."
      required
      error={error}
      value={[...chosen]}
      onChange={(values) => onChange(ROLES.filter((role) => values.includes(role)))}
    >
      <Stack gap="xs" mt="xs">
        {ROLES.map((role) => {
          const [name, what] = ROLE_WORDS[role];
          // Only an owner removes `owner`.
          const isAllowed = hasRole(session, role) || (before.includes(role) && role !== 'owner');
          return <Checkbox key={role} value={role} label={name} description={what} disabled={!isAllowed} />;
        })}
      </Stack>
    </Checkbox.Group>
  );
}
