// A real HTTP server that sends an adapter whatever response a test chooses.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeNow, listen } from '../sandbox/sandbox-harness.ts';

export type Received = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
};

export type Reply = (response: ServerResponse, received: Received) => void;

export type StubOperator = {
  readonly url: string;
  readonly received: Received[];
  /** Replaces the reply to token requests, and the reply to all other calls. */
  set(replies: { token?: Reply; call?: Reply }): void;
  /** Requests that are not for a token. */
  calls(): Received[];
  tokenRequests(): number;
  stop(): Promise<void>;
};

export async function startStubOperator(): Promise<StubOperator> {
  const received: Received[] = [];
  let token: Reply = (response) => {
    json(200, { access_token: `token-${received.length}`, token_type: 'access_token', expires_in: 3600 })(response);
  };
  let call: Reply = (response) => response.writeHead(202).end();
  const isToken = ({ path }: Received): boolean => /\/token\/?$|\/oauth\/v1\/generate\?/.test(path);

  const server = createServer((incoming, response) => {
    let body = '';
    incoming.setEncoding('utf8');
    incoming.on('data', (chunk: string) => (body += chunk));
    incoming.on('end', () => {
      const { method = '', url: path = '', headers } = incoming;
      const one: Received = { method, path, headers, body };
      received.push(one);
      (isToken(one) ? token : call)(response, one);
    });
  });

  return {
    url: await listen(server),
    received,
    set(replies) {
      token = replies.token ?? token;
      call = replies.call ?? call;
    },
    calls: () => received.filter((one) => !isToken(one)),
    tokenRequests: () => received.filter(isToken).length,
    stop: () => closeNow(server),
  };
}

export function json(status: number, body: unknown): (response: ServerResponse) => void {
  return (response) => response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

export function raw(status: number, text: string, type = 'text/html'): Reply {
  return (response) => response.writeHead(status, { 'Content-Type': type }).end(text);
}

/** Ends the connection before the announced length is sent. */
export function halfBody(status: number, text: string): Reply {
  return (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': text.length });
    response.write(text.slice(0, text.length / 2), () => response.destroy());
  };
}

export function inTurn(...replies: [Reply, ...Reply[]]): Reply {
  let turn = 0;
  return (response, received) => {
    (replies[turn++] ?? replies.at(-1))?.(response, received);
  };
}
