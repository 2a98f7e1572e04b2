// Reads the bytes of a body that is small.
import type { IncomingMessage } from 'node:http';
import { bodyBroken } from './broken-body.ts';
import { bodyTooLarge } from './errors.ts';

/**
 * All bytes of the body. Rejects with `body_too_large` as soon as there are more than `most`, or are announced, and reads no further
 * then; with `body_malformed` where the body breaks off.
 */
export function readBytes(request: IncomingMessage, most: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const stop = (): void => {
      request.off('data', add).off('end', finish).off('error', breakOff).off('close', breakOff);
    };
    const fail = (error: Error): void => {
      stop();
      request.pause();
      reject(error);
    };
    const breakOff = (): void => {
      fail(bodyBroken());
    };
    const add = (chunk: Buffer): void => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > most) fail(bodyTooLarge());
    };
    const finish = (): void => {
      stop();
      resolve(Buffer.concat(chunks));
    };
    if (Number(request.headers['content-length'] ?? 0) > most) fail(bodyTooLarge());
    else request.on('data', add).on('end', finish).on('error', breakOff).on('close', breakOff);
  });
}
