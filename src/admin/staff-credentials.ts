// Log-ins of the staff for one command, and the passwords and second factors that they choose when they enrol.
import type { Database } from '../db/platform/database.ts';
import type { StaffMember, StaffName } from '../domain/accounts/staff.ts';
import type { StaffCredentials } from '../operations/accounts/enrol-staff.ts';
import { beginStaffLogIn, finishStaffLogIn } from '../operations/accounts/log-in-staff.ts';
import { hashPassword, MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH, verifyPassword } from '../security/password.ts';
import { isEasilyGuessed } from '../security/password-strength.ts';
import type { KeyRing } from '../security/sealing.ts';
import { generateTotpSecret, matchTotpStep, totpUrl } from '../security/totp.ts';
import type { ActingDatabase } from './server-database.ts';
import { NothingEntered, type SecretPrompt } from './secret-prompt.ts';

export type StaffLogIn = {
  readonly name: StaffName;
  readonly password: string;
  readonly code: string;
  /** What they log in for. */
  readonly command: string;
  readonly keyRing: KeyRing;
};

/** The person. Throws `permission_denied` for whatever is wrong, and `rate_limited` after too many failures. */
export async function logInStaff(db: Database, { password, ...attempt }: StaffLogIn): Promise<StaffMember> {
  const hash = await beginStaffLogIn(db, { ...attempt, at: new Date() });
  const isRight = await verifyPassword(hash, password);
  return finishStaffLogIn(db, { ...attempt, verifiedHash: isRight ? hash : null, at: new Date() });
}

/** Asks the person for password and code. Throws as `logInStaff`. */
export async function askForLogIn(
  name: StaffName,
  command: string,
  { db, secretKeys: keyRing, prompt }: ActingDatabase & { readonly prompt: SecretPrompt },
): Promise<StaffMember> {
  const password = await prompt.ask(`password of ${name}`);
  const code = (await prompt.ask(`one-time code of ${name}`)).trim();
  return logInStaff(db, { name, password, code, command, keyRing });
}

/** At a terminal people mistype; what is not a terminal repeats its mistake. */
const MAX_TRIES_AT_TERMINAL = 5;

/** What the person chooses, once a code shows that their authenticator app has the secret. Throws where they do not get that far. */
export async function askForCredentials(name: StaffName, prompt: SecretPrompt): Promise<StaffCredentials> {
  const password = await retried(prompt, () => askForNewPassword(name, prompt));
  const totpSecret = generateTotpSecret();
  process.stdout.write(`secret      ${totpSecret}
            for the authenticator app of ${name}, and nobody else; it is not shown again:
            ${totpUrl(totpSecret, name)}
`);
  const totpLastStep = await retried(prompt, async () => {
    const code = (await prompt.ask(`one-time code of ${name}`)).trim();
    const step = matchTotpStep(totpSecret, code, new Date());
    if (step === null) throw new Error('the code is not that of the secret');
    return step;
  });
  return { passwordHash: await hashPassword(password), totpSecret, totpLastStep };
}

async function askForNewPassword(name: StaffName, prompt: SecretPrompt): Promise<string> {
  const password = await prompt.ask(`new password of ${name}`);
  if (password.length < MIN_PASSWORD_LENGTH || password.length > MAX_PASSWORD_LENGTH) {
    throw new Error(`a password has ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters`);
  }
  if (isEasilyGuessed(password, [name])) {
    throw new Error('this password is too easily guessed: it is common, a pattern, or a name with little else');
  }
  if (prompt.isTerminal && (await prompt.ask('the same again')) !== password) throw new Error('the two differ');
  return password;
}

async function retried<Value>({ isTerminal }: SecretPrompt, ask: () => Promise<Value>): Promise<Value> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (!isTerminal || error instanceof NothingEntered || tries === MAX_TRIES_AT_TERMINAL) throw error;
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
}
