// `malipo logout`: ends the kept sessions, at the service and here.
import { ApiRefusal, createApi } from '../api.ts';
import type { Command } from '../command.ts';
import { baseUrlOf } from '../sign-in.ts';

const HELP = `usage: malipo logout [--base-url URL]

Ends every session that is kept for this service, there and here. The secret of malipo listen stays.
With credentials in the environment the next command logs in again.
`;

export const logout: Command = {
  name: 'logout',
  summary: 'end the kept sessions',
  help: HELP,
  options: {},
  words: [0, 0],
  async run(line, { config, terminal, stop, ...rest }) {
    const baseUrl = baseUrlOf(line, { config, terminal, stop, ...rest });
    const sessions = Object.values(config.read().places[baseUrl]?.sessions ?? {});
    for (const { email, cookie, origin } of sessions) {
      const api = createApi({ baseUrl, cookie, origin, stop });
      try {
        await api.call('DELETE', '/v1/console/session');
      } catch (error) {
        // It had ended already. Anything else leaves it here, to be ended by another try.
        if (!(error instanceof ApiRefusal) || error.status !== 403) throw error;
      }
      config.forget(baseUrl, email);
      if (!line.isJson) terminal.print(`${email} is logged out of ${baseUrl}`);
    }
    config.change(baseUrl, (place) => {
      place.current = null;
    });
    if (line.isJson) terminal.print(JSON.stringify({ logged_out: sessions.map(({ email }) => email) }));
    else if (sessions.length === 0) terminal.print(`nobody was logged in at ${baseUrl}`);
  },
};
