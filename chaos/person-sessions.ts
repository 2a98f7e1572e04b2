// The sessions of a campaign's people: opened with a one-time code, and renewed before the second factor is stale.
import { setTimeout as sleep } from 'node:timers/promises';
import { totpCode, totpStepAt } from '../src/security/totp.ts';
import { PASSWORD, type Merchant, type Person } from './merchants.ts';

type Opened = { readonly status: number; readonly body: string; readonly cookie: string };

export type Sessions = {
  /** Opens one session, however many calls request it at once. Throws if the person cannot log in. */
  logIn(merchant: Merchant, person: Person): Promise<void>;
  /** The cookie of a session whose second factor stays fresh during one call; null: the person cannot log in. */
  freshCookie(merchant: Merchant, person: Person): Promise<string | null>;
};

/** A second factor is fresh for five minutes: a call that begins within this time ends before, even with repeats. */
const VERIFICATION_USED_FOR_MS = 90_000;
const TOTP_STEP_MS = 30_000;

/** `post` sends a log-in until it is answered, with a new body each time; null: it was never answered. */
export function createSessions(post: (bodyOf: () => Promise<string>) => Promise<Opened | null>): Sessions {
  const sessions = new Map<string, { readonly cookie: string; readonly openedAtMs: number }>();
  const openings = new Map<string, Promise<void>>();
  /** The time step of each person's last one-time code: a code works once, and uses up the earlier ones. */
  const lastSteps = new Map<string, number>();

  // A repeat needs another code: the attempt with the lost response may have used up its own.
  async function nextCode({ id, totpSecret }: Person): Promise<string> {
    const step = Math.max((lastSteps.get(id) ?? 0) + 1, totpStepAt(new Date()));
    lastSteps.set(id, step);
    // The service accepts the code of the next step as well.
    await sleep(Math.max(0, (step - 1) * TOTP_STEP_MS - Date.now()));
    return totpCode(totpSecret, step);
  }

  async function open(merchant: Merchant, person: Person): Promise<void> {
    const credentials = { email: person.email, password: PASSWORD, merchant_id: merchant.id };
    // A second session does no harm.
    const opened = await post(async () => JSON.stringify({ ...credentials, totp: await nextCode(person) }));
    if (opened?.status !== 201) throw new Error(`${person.email} cannot log in: ${opened?.body ?? 'no response'}`);
    sessions.set(person.id, { cookie: opened.cookie, openedAtMs: Date.now() });
  }

  const logIn = (merchant: Merchant, person: Person): Promise<void> => {
    const opening = openings.get(person.id) ?? open(merchant, person).finally(() => openings.delete(person.id));
    openings.set(person.id, opening);
    return opening;
  };

  return {
    logIn,
    async freshCookie(merchant, person) {
      const cookie = () => {
        const session = sessions.get(person.id);
        return session && Date.now() - session.openedAtMs < VERIFICATION_USED_FOR_MS ? session.cookie : null;
      };
      if (cookie() === null) await logIn(merchant, person).catch(() => undefined);
      return cookie();
    },
  };
}
