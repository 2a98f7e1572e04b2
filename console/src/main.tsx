// Starts the console in the page.
import './trusted-types.ts';
import '@mantine/core/styles.css';
import './ui/console.css';
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { ApiError } from './api/api-error.ts';
import { App } from './app.tsx';
import { SESSION_KEY } from './session/session.ts';
import { cssVariables, theme } from './ui/theme.ts';

const STALE_AFTER_MS = 2_000;
const MAX_TRIES = 3;

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_AFTER_MS,
      // The API refuses the same request again.
      retry: (failures, error) => failures < MAX_TRIES && !(error instanceof ApiError && error.isDecided),
    },
  },
});
// Whichever request first finds the session ended, the log-in is shown at once, and afterwards this place again.
// A query keeps its error until its next request, also right after the log-in: only a new error counts.
client.getQueryCache().subscribe((event) => {
  if (event.type !== 'updated' || event.action.type !== 'error') return;
  const error: unknown = event.action.error;
  if (error instanceof ApiError && error.status === 401) client.setQueryData(SESSION_KEY, null);
});

const nonce = document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.nonce ?? '';
// The components that lock scrolling read it there for their own style rules.
(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = nonce;
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no place for the console');

createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={client}>
        <Router base="/console">
          <App />
        </Router>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
