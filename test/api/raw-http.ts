// Requests as written, byte for byte, for what no HTTP client would send.
import { connect } from 'node:net';

/**
 * Sends the text on a new connection and returns everything that comes back until the connection ends. With `isLast`,
 * the client ends its half of the connection behind the text.
 */
export async function exchange(baseUrl: string, text: string, { isLast = false } = {}): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  socket.write(text);
  if (isLast) socket.end();
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  socket.destroy();
  return Buffer.concat(chunks).toString();
}
