// Stands in for temporal.download on the loopback, behind a proxy that the SDK's downloader is pointed to: TLS and all.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer as createProxy, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { createAuthority } from '../support/certificates.ts';

const HOST = 'temporal.download';

export type DownloadStub = {
  /** What a process needs to take this for the internet. */
  readonly environment: Readonly<Record<string, string>>;
  /** The paths that were requested, in their order. */
  readonly requested: string[];
  /** How the archive is sent from now on. */
  answer(send: (response: ServerResponse) => void): void;
  /** How many connections are open. */
  connections(): number;
  stop(): Promise<void>;
};

export async function startDownloadStub(folder: string): Promise<DownloadStub> {
  const authority = createAuthority('a test authority');
  const caFile = join(folder, 'authority.pem');
  writeFileSync(caFile, authority.cert);
  const requested: string[] = [];
  let send: (response: ServerResponse) => void = (response) => response.writeHead(404).end();
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const { pathname } = new URL(request.url ?? '/', `https://${HOST}`);
    requested.push(pathname);
    if (pathname === '/archive.tar.gz') {
      send(response);
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ archiveUrl: `https://${HOST}/archive.tar.gz`, fileToExtract: 'temporal' }));
  };
  const origin = createTlsServer(authority.issue({ hosts: [HOST] }), handle);
  const sockets = new Set<Socket>();
  const proxy = createProxy((_request, response) => response.writeHead(405).end());
  proxy.on('connect', (request: IncomingMessage, socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    if (request.url !== `${HOST}:443`) return void socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    origin.emit('connection', socket);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  return {
    environment: { HTTPS_PROXY: `http://127.0.0.1:${port}`, SSL_CERT_FILE: caFile },
    requested,
    answer(next) {
      send = next;
    },
    connections: () => sockets.size,
    async stop() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
