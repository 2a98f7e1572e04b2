// Chooses the page: the public pages, the log-in, the enrolment, and the pages of the console by their address.
import { Center, Loader } from '@mantine/core';
import { Component, lazy, Suspense, useState, type ReactNode } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { LiveUpdates } from './live/live-updates.tsx';
import { AcceptInvitation } from './session/accept-invitation.tsx';
import { LogIn } from './session/log-in.tsx';
import { Recover } from './session/recover.tsx';
import { ChooseMerchant } from './session/choose-merchant.tsx';
import { SessionContext, useReplaceSession, useSessionQuery, type Session } from './session/session.ts';
import { StepUpProvider } from './session/step-up.tsx';
import { Shell } from './shell.tsx';
import { ErrorNotice } from './ui/error-notice.tsx';
import { Page } from './ui/page.tsx';
import { Home } from './home.tsx';

// Each part is loaded when it is first shown.
const page = <Name extends string>(load: () => Promise<Record<Name, () => ReactNode>>, name: Name) =>
  lazy(async () => ({ default: (await load())[name] }));
const payments = () => import('./payments/pages.ts');
const payoutsFile = () => import('./payouts-file/payouts-file.tsx');
const checkouts = () => import('./checkouts/pages.ts');
const keys = () => import('./keys/keys.tsx');
const webhooks = () => import('./webhooks/pages.ts');
const team = () => import('./team/pages.ts');
const session = () => import('./session/security.tsx');
const requests = () => import('./requests/pages.ts');

const PAGES = {
  '/': Home,
  '/collections': page(payments, 'Collections'),
  '/collections/:id': page(payments, 'Collection'),
  '/payouts': page(payments, 'Payouts'),
  '/payouts/new': page(payments, 'NewPayout'),
  '/payouts/file': page(payoutsFile, 'PayoutsFile'),
  '/payouts/:id': page(payments, 'Payout'),
  '/approvals': page(payments, 'Approvals'),
  '/refunds': page(payments, 'Refunds'),
  '/refunds/:id': page(payments, 'Refund'),
  '/checkouts': page(checkouts, 'Checkouts'),
  '/checkouts/new': page(checkouts, 'NewCheckout'),
  '/checkouts/:id': page(checkouts, 'Checkout'),
  '/statement': page(payments, 'Statement'),
  '/keys': page(keys, 'ApiKeys'),
  '/endpoints': page(webhooks, 'Endpoints'),
  '/endpoints/:id': page(webhooks, 'Endpoint'),
  '/deliveries': page(webhooks, 'Deliveries'),
  '/deliveries/:id': page(webhooks, 'Delivery'),
  '/events': page(webhooks, 'Events'),
  '/events/:id': page(webhooks, 'Event'),
  '/requests': page(requests, 'ApiRequests'),
  '/requests/:id': page(requests, 'ApiRequest'),
  '/members': page(team, 'Members'),
  '/policy': page(team, 'Policy'),
  '/audit': page(team, 'Audit'),
  '/security': page(session, 'Security'),
};

export function App() {
  const [place] = useLocation();
  const { data: current, error, isPending } = useSessionQuery();
  const replaceSession = useReplaceSession();
  const [choosing, setChoosing] = useState<Session | null>(null);
  if (place === '/invitation') return <AcceptInvitation />;
  if (place === '/recovery') return <Recover />;
  if (isPending) return <Waiting />;
  if (choosing !== null) return <ChooseMerchant session={choosing} onChosen={() => setChoosing(null)} />;
  if (current === null)
    return (
      <LogIn
        onLoggedIn={(session) => (session.merchants.length > 1 ? setChoosing(session) : replaceSession(session))}
      />
    );
  if (current === undefined) return <ErrorNotice error={error} />;
  return (
    <SessionContext value={current}>
      <StepUpProvider>
        <LiveUpdates>
          <Shell>
            <PageBoundary key={place}>
              <Suspense fallback={<Waiting />}>
                <Switch>
                  {Object.entries(PAGES).map(([path, Shown]) => (
                    <Route key={path} path={path}>
                      <Shown />
                    </Route>
                  ))}
                  <Route>There is no such page.</Route>
                </Switch>
              </Suspense>
            </PageBoundary>
          </Shell>
        </LiveUpdates>
      </StepUpProvider>
    </SessionContext>
  );
}

function Waiting() {
  return (
    <Center mih="50vh">
      <Loader aria-label="Loading" />
    </Center>
  );
}

type Failure = { readonly error: unknown; readonly hasFailed: boolean };

/** Replaces a page that could not be drawn. Its key is the page's address: another page begins without the error. */
class PageBoundary extends Component<{ readonly children: ReactNode }, Failure> {
  override readonly state: Failure = { error: null, hasFailed: false };

  static getDerivedStateFromError(error: unknown): Failure {
    return { error, hasFailed: true };
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <Page title="This page cannot be shown">
        <ErrorNotice error={this.state.error} />
        Load it again, or go to another page. Nothing was changed by this.
      </Page>
    );
  }
}
