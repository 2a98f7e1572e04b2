// The key of the sandbox operator's Daraja in the embedded start, and the certificate with which the server encrypts for it.
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivateFile } from '../engines/process/private-file.ts';
import { certificateOf } from '../sandbox/daraja-certificate.ts';

type DarajaFiles = { readonly key: string; readonly certificate: string };

/** The files' paths in the data folder. */
export function darajaFiles(dataDir: string): DarajaFiles {
  return { key: join(dataDir, 'mpesa-key.pem'), certificate: join(dataDir, 'mpesa-certificate.pem') };
}

/** Writes both where they are missing; the key stays the same at every start on this data folder. */
export function prepareDarajaFiles(dataDir: string): void {
  const { key, certificate } = darajaFiles(dataDir);
  if (!existsSync(key)) {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writePrivateFile(key, privateKey.export({ format: 'pem', type: 'pkcs8' }).toString());
  }
  writePrivateFile(certificate, certificateOf(createPrivateKey(readFileSync(key))));
}
