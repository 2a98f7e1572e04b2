// Stores the command line's sessions and `listen` secret between runs, readable by this user only.
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { parseJson } from './api.ts';
import { CliFailure } from './failure.ts';

const sessionSchema = z.object({ email: z.string(), cookie: z.string(), origin: z.string() });

const serviceSchema = z.object({
  /** The address of the person who last used `malipo login` here. */
  current: z.string().nullable().default(null),
  sessions: z.record(z.string(), sessionSchema).default({}),
  /** By merchant: the secret with which `listen` signs. */
  listenSecrets: z.record(z.string(), z.string()).default({}),
});

const configSchema = z.object({
  /** The service of the last `malipo login`. */
  baseUrl: z.string().nullable().default(null),
  places: z.record(z.string(), serviceSchema).default({}),
});

export type SavedService = z.infer<typeof serviceSchema>;
type Saved = z.infer<typeof configSchema>;

export type ConfigFile = {
  readonly path: string;
  read(): Saved;
  /** Reads, changes and replaces the file. Not locked: a change that another command makes at the same time may be lost. */
  change(baseUrl: string, change: (service: SavedService, saved: Saved) => void): void;
  removeSession(baseUrl: string, email: string): void;
};

/** `$XDG_CONFIG_HOME/malipo/config.json`, or that under `~/.config`. */
export function openConfigFile(environment: Readonly<Record<string, string | undefined>>): ConfigFile {
  const chosen = environment['XDG_CONFIG_HOME'] ?? '';
  const path = join(chosen === '' ? join(homedir(), '.config') : chosen, 'malipo', 'config.json');
  const read = (): Saved => {
    if (!existsSync(path)) return configSchema.parse({});
    // Others could read a copied file, and use its sessions: restrict it again.
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
    const parsed = configSchema.safeParse(parseJson(readFileSync(path, 'utf8')));
    if (parsed.success) return parsed.data;
    throw new CliFailure('failed', `${path} is not valid. Remove the file and log in again.`);
  };
  const change: ConfigFile['change'] = (baseUrl, changeService) => {
    const saved = read();
    const service = (saved.places[baseUrl] ??= serviceSchema.parse({}));
    changeService(service, saved);
    writePrivately(path, `${JSON.stringify(saved, null, 2)}\n`);
  };
  return {
    path,
    read,
    change,
    removeSession(baseUrl, email) {
      change(baseUrl, (service) => {
        service.sessions = Object.fromEntries(Object.entries(service.sessions).filter(([key]) => key !== email));
      });
    },
  };
}

function writePrivately(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, path);
}
