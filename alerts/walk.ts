// One walk: a fault is made, its alerts must fire, the fault is ended as the runbook says, and they must be gone.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Prometheus } from './prometheus.ts';
import type { Stage } from './stage.ts';

/** Ends the fault as the runbook says; rejects when something that the runbook says about money is not so. */
export type Ending = () => Promise<void>;

export type Walk = {
  /** Several alerts may be of one fault. */
  readonly alerts: readonly string[];
  /** What is done to the deployment. */
  readonly fault: string;
  /** What an operator does then. */
  readonly remedy: string;
  /** Makes the fault; resolves while it lasts. The alerts are watched meanwhile. */
  readonly begin: (stage: Stage) => Ending | Promise<Ending>;
};

export type Walked = {
  readonly alert: string;
  /** Since the fault began; null: it never fired. */
  readonly firedAfterMs: number | null;
  /** Since the fault was ended; null: it never ended. */
  readonly clearedAfterMs: number | null;
};

const QUIET_LIMIT_MS = 180_000;
const FIRE_LIMIT_MS = 300_000;
const CLEAR_LIMIT_MS = 300_000;
const LOOK_EVERY_MS = 500;
/** An alert that is silent for less may only have missed a scrape. */
const GONE_AFTER_MS = 14_000;

/** Rejects when one of the alerts fires without the fault, and when the fault cannot be made or ended. */
export async function walk({ alerts, begin }: Walk, { prometheus, ...stage }: Stage): Promise<readonly Walked[]> {
  const before = await whenGone(alerts, prometheus, QUIET_LIMIT_MS);
  const early = alerts.filter((alert) => !before.has(alert));
  if (early.length > 0) throw new Error(`fires without the fault: ${early.join(', ')}`);
  const begunAtMs = Date.now();
  const [end, fired] = await Promise.all([
    begin({ prometheus, ...stage }),
    whenFired(alerts, prometheus, FIRE_LIMIT_MS),
  ]);
  const endedAtMs = Date.now();
  const [gone] = await Promise.all([whenGone(alerts, prometheus, CLEAR_LIMIT_MS), end()]);
  return alerts.map((alert) => ({
    alert,
    firedAfterMs: sinceOf(fired.get(alert), begunAtMs),
    clearedAfterMs: sinceOf(gone.get(alert), endedAtMs),
  }));
}

const sinceOf = (atMs: number | undefined, fromMs: number) => (atMs === undefined ? null : Math.max(0, atMs - fromMs));

/** When each was seen firing for the first time. */
async function whenFired(alerts: readonly string[], prometheus: Prometheus, limitMs: number) {
  const fired = new Map<string, number>();
  await lookUntil(limitMs, async () => {
    const firing = await prometheus.firing();
    for (const alert of alerts) if (firing?.has(alert) && !fired.has(alert)) fired.set(alert, Date.now());
    return fired.size === alerts.length;
  });
  return fired;
}

/** Since when each is gone, once all of them are; those alone that are. */
async function whenGone(alerts: readonly string[], prometheus: Prometheus, limitMs: number) {
  const gone = new Map<string, number>();
  await lookUntil(limitMs, async () => {
    const firing = await prometheus.firing();
    for (const alert of alerts) {
      if (firing === null || firing.has(alert)) gone.delete(alert);
      else if (!gone.has(alert)) gone.set(alert, Date.now());
    }
    return alerts.every((alert) => Date.now() - (gone.get(alert) ?? Infinity) > GONE_AFTER_MS);
  });
  return gone;
}

async function lookUntil(limitMs: number, look: () => Promise<boolean>): Promise<void> {
  const giveUpAtMs = Date.now() + limitMs;
  while (!(await look()) && Date.now() < giveUpAtMs) await sleep(LOOK_EVERY_MS);
}
