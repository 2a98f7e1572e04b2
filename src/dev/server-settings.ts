// The settings that `npm start` gives to its server, saved in its data folder for the staff's commands.
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { readJsonFile } from './json-file.ts';
import { writePrivateFile } from '../engines/process/private-file.ts';
import { findProjectRoot } from '../project-root.ts';
import type { Environment } from '../engines/process/supervised-process.ts';

const FILE = 'server-settings.json';
const DEFAULT_FOLDER = 'var';
const settingsSchema = z.record(z.string(), z.string());
const REMEDY = 'The next npm start writes it again; until then set the settings in the environment.';

/** Replaces the file, which only this user can read, because it contains keys. */
export function writeServerSettings(dataDir: string, settings: Environment): void {
  const malipoSettings = Object.entries(settings).filter(
    ([name, value]) => name.startsWith('MALIPO_') && value !== undefined,
  );
  writePrivateFile(join(dataDir, FILE), `${JSON.stringify(Object.fromEntries(malipoSettings), null, 2)}\n`);
}

export type FoundSettings = {
  /** The given environment, completed by the settings of the file. */
  readonly environment: Environment;
  /** The source of the settings, for people. */
  readonly source: string;
};

/**
 * The settings for a command beside `npm start`, whose data folder is `MALIPO_DATA_DIR` or `var`. They are used only if
 * the environment names no database or the same one, so that a deployment never gets another's settings. Throws if the
 * file cannot be read.
 */
export function withServerSettings(environment: Environment): FoundSettings {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const folder = resolve(findProjectRoot(), given['MALIPO_DATA_DIR'] ?? DEFAULT_FOLDER);
  const ofEnvironment = { environment, source: 'the environment' };
  if (given['MALIPO_DATABASE_URL_FILE'] !== undefined || given['MALIPO_ENVIRONMENT'] === 'live') return ofEnvironment;
  const found = readJsonFile(join(folder, FILE), settingsSchema, REMEDY);
  if (found === undefined) {
    const none = `the environment; ${folder} has none of a running npm start (MALIPO_DATA_DIR names another folder)`;
    return { environment, source: given['MALIPO_DATABASE_URL'] === undefined ? none : ofEnvironment.source };
  }
  const named = given['MALIPO_DATABASE_URL'];
  if (named !== undefined && named !== found['MALIPO_DATABASE_URL']) return ofEnvironment;
  return { environment: { ...found, ...given }, source: `npm start in ${folder}` };
}
