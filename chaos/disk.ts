// A small separate disk for PostgreSQL's data, which can be filled: a tmpfs, if this process may mount one.
import { spawnSync } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';

export type Disk = {
  readonly folder: string;
  fill(): void;
  makeRoom(): void;
  /** Its content is lost when it is unmounted. */
  copyTo(folder: string): void;
  unmount(): void;
};

const WHOLE_SIZE = '4g';
const KIB = 1024;

/** Null if it cannot be mounted, for example without root. */
export function mountDisk(folder: string): Disk | null {
  mkdirSync(folder, { recursive: true });
  if (!mount(['-t', 'tmpfs', '-o', `size=${WHOLE_SIZE},mode=755`, 'tmpfs', folder])) return null;
  return {
    folder,
    fill() {
      const { blocks, bfree, bsize } = statfsSync(folder);
      mount(['-o', `remount,size=${Math.ceil(((blocks - bfree) * bsize) / KIB)}k`, folder]);
    },
    makeRoom() {
      mount(['-o', `remount,size=${WHOLE_SIZE}`, folder]);
    },
    copyTo(copy) {
      spawnSync('cp', ['-a', folder, copy]);
    },
    unmount() {
      spawnSync('umount', [folder]);
    },
  };
}

function mount(args: readonly string[]): boolean {
  return spawnSync('mount', args).status === 0;
}
