// The doctor's checks of the settings, and of the processes that have them.
import { ConfigError, loadCommandConfig } from '../../settings/config.ts';
import type { Check, Finding } from './check.ts';

const CALL_LIMIT_MS = 5000;

export const SETTINGS_CHECKS: readonly Check[] = [
  {
    name: 'settings',
    on: 'settings',
    looksAt:
      'a server would start with these settings. The operator’s credentials, which only workers have, are not checked',
    remedy: 'config.md describes every setting. A server also refuses to start until each line is corrected.',
    find({ environment }) {
      try {
        loadCommandConfig(environment);
        return Promise.resolve([]);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        const [, ...lines] = error.message.split('\n');
        return Promise.resolve(lines.map((line) => line.trim()));
      }
    },
  },
  {
    name: 'API',
    on: 'settings',
    looksAt: 'a process with the role api answers at MALIPO_PUBLIC_URL, and says that it is ready',
    remedy:
      'Start a process with the role api, or correct the proxy. If the process is not ready, it says which dependency is unavailable.',
    async find({ settings: { MALIPO_PUBLIC_URL: url } }) {
      return url === undefined ? [] : lookAtReadiness(new URL('/readyz', url));
    },
  },
  {
    name: 'metrics',
    on: 'settings',
    looksAt:
      'a note says that no process on this machine serves metrics at MALIPO_METRICS_HOST and MALIPO_METRICS_PORT',
    remedy:
      'If no server runs on this machine, there is nothing to do. Otherwise start the server, and let Prometheus read its metrics there.',
    async find({ settings: { MALIPO_METRICS_HOST: host, MALIPO_METRICS_PORT: port } }) {
      if (host === undefined || port === undefined) return [];
      const name = host.includes(':') ? `[${host}]` : host;
      const url = new URL(`http://${name}:${port}/metrics`);
      const answer = await read(url);
      return 'problem' in answer || answer.status !== 200 ? [{ note: `no process serves metrics at ${url.href}` }] : [];
    },
  },
];

async function lookAtReadiness(url: URL): Promise<readonly Finding[]> {
  const answer = await read(url);
  if ('problem' in answer) return [`${url.href} does not answer: ${answer.problem}`];
  const status = /"status":"(\w+)"/.exec(answer.text)?.[1];
  if (answer.status === 200 && status === 'ready') return [];
  const parts = /"parts":(\{[^}]*\})/.exec(answer.text)?.[1] ?? '';
  return [`${url.href} answers ${answer.status}${status === undefined ? '' : `, ${status} ${parts}`}`];
}

async function read(
  url: URL,
): Promise<{ readonly status: number; readonly text: string } | { readonly problem: string }> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(CALL_LIMIT_MS) });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return { problem: cause instanceof Error ? cause.message || cause.name : String(cause) };
  }
}
