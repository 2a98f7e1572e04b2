// Bodies that break off or cannot be read while their request waits for a response.
import type { IncomingMessage } from 'node:http';
import { DomainError } from '../domain/errors.ts';

const broken = new WeakSet<IncomingMessage>();

/** Makes every read of this body fail with `body_malformed`, now or later. Has no effect on a body that is not read. */
export function breakBody(request: IncomingMessage): void {
  broken.add(request);
  if (request.listenerCount('error') > 0) request.emit('error', bodyBroken());
}

/** Throws `body_malformed` if the body is already known to be broken: a wait for its end would never finish. */
export function refuseBrokenBody(request: IncomingMessage): void {
  if (broken.has(request)) throw bodyBroken();
}

export function bodyBroken(): DomainError {
  return new DomainError('body_malformed', 'The body did not arrive completely. Send the whole request again.');
}
