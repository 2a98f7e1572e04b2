// `malipo logout`: ends the stored sessions, at the service and on this machine.
import { createApi, isRefusal } from '../api.ts';
import type { Command } from '../command.ts';
import { baseUrlOf } from '../sign-in.ts';

const HELP = `usage: malipo logout [--base-url URL]

Ends every kept session at this service, and removes it from this machine. The secret of malipo listen stays.
With credentials in the environment, the next command logs in again.
`;

export const logout: Command = {
  name: 'logout',
  summary: 'end the kept sessions',
  help: HELP,
  async run(line, context) {
    const { config, terminal, stop } = context;
    const baseUrl = baseUrlOf(line, context);
    const sessions = Object.values(config.read().places[baseUrl]?.sessions ?? {});
    for (const { email, cookie, origin } of sessions) {
      const api = createApi({ baseUrl, cookie, origin, stop });
      try {
        await api.call('DELETE', '/v1/console/session');
      } catch (error) {
        // The session has ended already. After any other error it stays stored, so that logout can be repeated.
        if (!isRefusal(error)) throw error;
      }
      config.removeSession(baseUrl, email);
      if (!line.isJson) terminal.print(`${email} is logged out of ${baseUrl}`);
    }
    config.change(baseUrl, (service) => {
      service.current = null;
    });
    if (line.isJson) terminal.printJson({ logged_out: sessions.map(({ email }) => email) });
    else if (sessions.length === 0) terminal.print(`no session was kept for ${baseUrl}`);
  },
};
