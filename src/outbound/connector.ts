// Connects to servers that are not ours: with verified TLS, and with heads of responses read as HTTP allows them to be.
import { buildConnector } from 'undici';
import { readResponseHeads } from './response-heads.ts';

/** How undici opens each connection to a receiver or an operator. Certificates are verified whatever the process's environment says. */
export function createConnector(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector({
    ...options,
    // Set explicitly, they override what the environment of the process says (NODE_TLS_REJECT_UNAUTHORIZED, NODE_OPTIONS).
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
  });
  return (target, callback) => {
    connect(target, (...result) => {
      const [error, socket] = result;
      if (error === null) readResponseHeads(socket);
      callback(...result);
    });
  };
}
