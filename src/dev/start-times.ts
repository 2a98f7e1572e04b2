// How long each step of `npm start` took, from the build to a paid collection.
import type { Environment } from '../engines/process/supervised-process.ts';

export type StartTimes = {
  /** The step of this name ends now, and began where the one before it ended. */
  end(step: string): void;
  text(): string;
};

/** Begins with the build, if `tools/start.mjs` made one before. */
export function startTimes(environment: Environment): StartTimes {
  const buildMs = environment['NPM_START_BUILD_MS'];
  const steps: [string, number][] = buildMs === undefined ? [] : [['build', Number(buildMs)]];
  let endedAtMs = Date.now();
  return {
    end(step) {
      const now = Date.now();
      steps.push([step, now - endedAtMs]);
      endedAtMs = now;
    },
    text() {
      const sum = steps.reduce((total, [, ms]) => total + ms, 0);
      return `paid after ${seconds(sum)} s: ${steps.map(([step, ms]) => `${step} ${seconds(ms)}`).join(', ')}`;
    },
  };
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
