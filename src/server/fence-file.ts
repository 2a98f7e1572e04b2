// The marker of the fence in a file: outside of the database, and on another disk where there is one.
import { open, readFile, rename } from 'node:fs/promises';
import { z } from 'zod';
import type { Marker } from '../domain/fence.ts';

const markerSchema = z.object({
  counter: z.number().int().min(1),
  writtenAt: z.iso.datetime().transform((text) => new Date(text)),
  lsn: z.string(),
});
/** By deployment: a file that is used for another database by mistake keeps the marker of the first. */
const fileSchema = z.record(z.string(), markerSchema);

export type MarkerStore = {
  /** Null: there is none. Throws where that is unknown. */
  read(deployment: string): Promise<Marker | null>;
  /** Returns once the marker is kept. */
  write(deployment: string, marker: Marker): Promise<void>;
};

/** A marker as text, for places that keep no other. */
export function markerText({ counter, writtenAt, lsn }: Marker): string {
  return JSON.stringify({ counter, writtenAt, lsn });
}

export function parseMarker(text: string): Marker {
  return markerSchema.parse(JSON.parse(text));
}

/** Several processes of a machine may share the file: each replaces it in one step. */
export function markerFile(path: string): MarkerStore {
  const readAll = async (): Promise<Readonly<Record<string, Marker>>> => {
    try {
      return fileSchema.parse(JSON.parse(await readFile(path, 'utf8')));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
      throw new Error(`the marker file ${path} cannot be read`, { cause: error });
    }
  };
  return {
    async read(deployment) {
      return (await readAll())[deployment] ?? null;
    },
    async write(deployment, marker) {
      const text = `${JSON.stringify({ ...(await readAll()), [deployment]: marker }, null, 2)}\n`;
      const unfinished = `${path}.${crypto.randomUUID()}`;
      const file = await open(unfinished, 'w', 0o600);
      try {
        await file.writeFile(text);
        // A machine that loses its power keeps the marker, as it keeps the database.
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(unfinished, path);
    },
  };
}
