// The frame of every page after the log-in: navigation, merchant, and waiting work.
import {
  ActionIcon,
  Alert,
  AppShell,
  Badge,
  Box,
  Burger,
  Button,
  Group,
  Menu,
  NavLink,
  ScrollArea,
  Text,
  Tooltip,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { answerOf, api } from './api/client.ts';
import { useKeyboardHelp } from './keyboard/help.tsx';
import { Delays } from './payments/delays.tsx';
import { Search } from './search.tsx';
import { SwitchMerchant } from './session/choose-merchant.tsx';
import { MustEnrol } from './session/enrol.tsx';
import { hasRole, useReplaceSession, useSession, type Role, type Session } from './session/session.ts';
import { SessionEnd } from './session/session-end.tsx';
import { MoonIcon, SunIcon } from './ui/icons.tsx';
import { MerchantText } from './ui/merchant-text.tsx';
import { Moment } from './ui/moment.tsx';
import { Person } from './ui/person.tsx';
import { useAct } from './ui/use-act.ts';
import { useNow } from './ui/use-now.ts';

type Entry = {
  readonly path: string;
  readonly label: string;
  readonly waiting?: (session: Session) => number;
  /** The roles besides owner that may see it; absent: everybody. */
  readonly roles?: readonly Role[];
};
type Part = { readonly label: string; readonly entries: readonly Entry[] };

const NAVIGATION: readonly Part[] = [
  {
    label: 'Money',
    entries: [
      { path: '/', label: 'Home' },
      { path: '/collections', label: 'Collections' },
      { path: '/payouts', label: 'Payouts' },
      {
        path: '/approvals',
        label: 'Approvals',
        waiting: ({ waits_for_you: { payouts, reversals } }) => payouts + reversals,
      },
      { path: '/refunds', label: 'Refunds' },
      { path: '/checkouts', label: 'Checkouts' },
      { path: '/statement', label: 'Statement' },
    ],
  },
  {
    label: 'Developers',
    entries: [
      { path: '/keys', label: 'API keys' },
      { path: '/endpoints', label: 'Endpoints' },
      { path: '/deliveries', label: 'Deliveries' },
      { path: '/events', label: 'Events' },
      { path: '/requests', label: 'Requests', roles: ['admin', 'developer'] },
    ],
  },
  {
    label: 'Team',
    entries: [
      {
        path: '/members',
        label: 'Members',
        waiting: ({ waits_for_you: { invitations, member_changes } }) => invitations + member_changes,
      },
      { path: '/policy', label: 'Policy', waiting: ({ waits_for_you: { policy_changes } }) => policy_changes },
      { path: '/audit', label: 'Audit log' },
    ],
  },
];

export function Shell({ children }: { readonly children: ReactNode }) {
  const session = useSession();
  const [isOpen, { toggle, close }] = useDisclosure();
  const keyboard = useKeyboardHelp();
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <AppShell.Header>
        <a className="skip-link" href="#main">
          Go to the content
        </a>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label="Pages"
              aria-expanded={isOpen}
            />
            <Text fw={600} truncate>
              {session.merchant.name}
            </Text>
            <Badge color={session.environment === 'live' ? 'red' : 'gray'} variant="filled" autoContrast flex="none">
              {session.environment}
            </Badge>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <Box visibleFrom="sm">{!session.must_enrol && <Search />}</Box>
            <ColorSchemeSwitch />
            <OwnMenu session={session} onKeyboard={keyboard.open} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar aria-label="Pages">
        <ScrollArea p="xs">
          <Box hiddenFrom="sm">{!session.must_enrol && isOpen && <Search onGo={close} />}</Box>
          {session.must_enrol ? null : <Navigation session={session} onGo={close} />}
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id="main">
        {keyboard.sheet}
        <SessionEnd session={session} />
        <Notices session={session} />
        {!session.must_enrol && <Delays />}
        {session.must_enrol ? <MustEnrol /> : children}
      </AppShell.Main>
    </AppShell>
  );
}

function Navigation({ session, onGo }: { readonly session: Session; readonly onGo: () => void }) {
  const [place] = useLocation();
  return NAVIGATION.map(({ label, entries }) => (
    <div key={label} role="group" aria-label={label}>
      <Text size="xs" c="dimmed" fw={600} mt="sm" mb={4} px="xs" aria-hidden>
        {label}
      </Text>
      {entries
        .filter(({ roles }) => roles === undefined || hasRole(session, ...roles))
        .map(({ path, label: name, waiting }) => {
          const count = waiting?.(session) ?? 0;
          const isHere = path === '/' ? place === '/' : place === path || place.startsWith(`${path}/`);
          return (
            <NavLink
              key={path}
              component={Link}
              href={path}
              label={name}
              active={isHere}
              aria-current={isHere ? 'page' : undefined}
              onClick={onGo}
              rightSection={
                count > 0 && (
                  <Badge size="sm" circle={count < 10} aria-label={`${count} wait for you`}>
                    {count}
                  </Badge>
                )
              }
            />
          );
        })}
    </div>
  ));
}

/** Light or dark: by the reader's system, until they choose. */
function ColorSchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const current = useComputedColorScheme('light');
  const other = current === 'dark' ? 'light' : 'dark';
  return (
    <Tooltip label={`Use ${other} colours`}>
      <ActionIcon variant="subtle" onClick={() => setColorScheme(other)} aria-label={`Use ${other} colours`}>
        {current === 'dark' ? <SunIcon /> : <MoonIcon />}
      </ActionIcon>
    </Tooltip>
  );
}

function OwnMenu({ session, onKeyboard }: { readonly session: Session; readonly onKeyboard: () => void }) {
  const replaceSession = useReplaceSession();
  const [, go] = useLocation();
  const [isSwitching, switching] = useDisclosure();
  const logOut = useAct(async () => {
    await answerOf(api.DELETE('/v1/console/session'));
    replaceSession(null);
    // Data of the session must not stay in this page.
    window.location.reload();
  });
  return (
    <>
      {isSwitching && <SwitchMerchant session={session} onClose={switching.close} />}
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="subtle" size="compact-md" maw={{ base: 120, sm: 240 }}>
            <Text truncate inherit>
              {session.person.name}
            </Text>
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label className="wraps" maw={320}>
            <MerchantText text={session.merchant.name} />
            <br />
            {session.person.email}
            <br />
            {session.roles.join(', ')}
          </Menu.Label>
          {session.merchants.length > 1 && <Menu.Item onClick={switching.open}>Act for another merchant…</Menu.Item>}
          <Menu.Item onClick={() => go('/security')}>Your security</Menu.Item>
          <Menu.Item onClick={onKeyboard}>Keyboard</Menu.Item>
          <Menu.Item onClick={() => logOut.run()}>Log out</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

/** Notices about the person's account, and about their power to move money. */
function Notices({ session }: { readonly session: Session }) {
  const nowMs = useNow();
  const { failed_log_ins: failed, moves_money_from: from, needs_second_owner, notices } = session;
  return (
    <>
      {session.in_recovery && (
        <Alert color="red" mb="md" title="The service is in recovery">
          Its records were restored. Nothing is sent, released, rejected or cancelled until they are compared with those
          of the operators. Do not request a payment again under another key.
        </Alert>
      )}
      {failed !== null && (
        <Alert
          color="orange"
          mb="md"
          title={`${failed.count} ${failed.count === 1 ? 'log-in' : 'log-ins'} with your name failed since you were last here`}
        >
          The last one at <Moment at={failed.last_at} />
          {failed.last_address !== null && ` from ${failed.last_address}`}. If that was not you, change your password
          under “Your security”.
        </Alert>
      )}
      {from !== null && Date.parse(from) > nowMs && (
        <Alert color="orange" mb="md" title="You cannot move money yet">
          You can from <Moment at={from} /> on. New and recovered accounts must wait first.
        </Alert>
      )}
      {needs_second_owner && (
        <Alert color="orange" mb="md" title="This merchant needs a second owner before anything moves">
          Invite one under <Link href="/members">Members</Link>.
        </Alert>
      )}
      {notices.map(({ step, person, staff, at }) => (
        <Alert
          key={`${person.id}${step}${at}`}
          color="orange"
          mb="md"
          title={`Recovery of the account of ${person.email}: ${step}`}
        >
          <Moment at={at} />
          {staff !== null && `, by ${staff} of the service`}. If <Person person={person} /> did not ask for it, end it
          with the service’s staff.
        </Alert>
      ))}
    </>
  );
}
