// Time-based one-time codes (RFC 6238): SHA-1, six digits, thirty seconds, which every authenticator app supports.
import { HOTP, Secret, TOTP } from 'otpauth';

const SECRET_BYTES = 20;
const STEP_SECONDS = 30;
const DIGITS = 6;
const ALGORITHM = 'SHA1';
/** Allows for a clock that is one step off, and for a code typed as its step ends. */
const WINDOW_STEPS = 1;

/** A new secret of 160 bits in base32 (RFC 4648), the form that authenticator apps expect. */
export function generateTotpSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** The time step at `at`. Each step has one code, which works once. */
export function totpStepAt(at: Date): number {
  return TOTP.counter({ period: STEP_SECONDS, timestamp: at.getTime() });
}

export function totpCode(secret: string, step: number): string {
  return HOTP.generate({ secret: Secret.fromBase32(secret), algorithm: ALGORITHM, digits: DIGITS, counter: step });
}

/** The time step of this code within the window around `at`; null if there is none. */
export function matchTotpStep(secret: string, code: string, at: Date): number | null {
  if (!/^[0-9]{6}$/.test(code)) return null;
  const stepsLater = TOTP.validate({
    token: code,
    secret: Secret.fromBase32(secret),
    algorithm: ALGORITHM,
    digits: DIGITS,
    period: STEP_SECONDS,
    timestamp: at.getTime(),
    window: WINDOW_STEPS,
  });
  return stepsLater === null ? null : totpStepAt(at) + stepsLater;
}

/** The address that an authenticator app reads from a QR code. */
export function totpUrl(secret: string, email: string): string {
  const options = { issuer: 'Malipo', label: email, algorithm: ALGORITHM, digits: DIGITS, period: STEP_SECONDS };
  return new TOTP({ ...options, secret: Secret.fromBase32(secret) }).toString();
}
