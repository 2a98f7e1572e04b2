// The key of the sandbox operator's Daraja in the embedded start, and its public half, with which the server encrypts for it.
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivateFile } from '../engines/process/private-file.ts';

type DarajaFiles = { readonly key: string; readonly publicHalf: string };

/** The files' paths in the data folder. */
export function darajaFiles(dataDir: string): DarajaFiles {
  return { key: join(dataDir, 'mpesa-key.pem'), publicHalf: join(dataDir, 'mpesa-public-key.pem') };
}

/** Writes both where they are missing; the key stays the same at every start on this data folder. */
export function prepareDarajaFiles(dataDir: string): void {
  const { key, publicHalf } = darajaFiles(dataDir);
  if (!existsSync(key)) {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writePrivateFile(key, privateKey.export({ format: 'pem', type: 'pkcs8' }).toString());
  }
  // What the setting takes in the place of a certificate.
  const publicKey = createPublicKey(readFileSync(key)).export({ format: 'pem', type: 'spki' });
  writePrivateFile(publicHalf, publicKey.toString());
}
