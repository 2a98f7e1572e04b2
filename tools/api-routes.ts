// The routes of the API without a server, for generators. No route is called, so dependencies may be missing.
import { createApp, type ApiDeps } from '../src/api/app.ts';
import type { Route } from '../src/api/route.ts';

export function apiRoutes(publicUrl = 'http://localhost'): Route[] {
  const nothing = {
    publicUrl,
    trustedProxies: 0,
    rateLimitPerSecond: 0,
    operatorRateLimitPerSecond: 0,
    consoleApp: null,
    docsSite: null,
  } as ApiDeps;
  return createApp(nothing).routes;
}
