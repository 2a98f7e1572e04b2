// Sessions on the wire.
import { z } from 'zod';
import { SCOPES, scopesOfRoles } from '../../../domain/accounts/api-key.ts';
import { ENVIRONMENTS, type Environment } from '../../../domain/event.ts';
import { sessionEndsAt, sessionExpiresAt } from '../../../domain/accounts/session.ts';
import { freshUntil, mustEnrol } from '../../../domain/accounts/member.ts';
import { MAX_WAITING_SHOWN } from '../../../domain/payments/approval.ts';
import type { OwnSession } from '../../../operations/accounts/get-own-session.ts';
import {
  email,
  givenCode,
  givenPassword,
  givenRecoveryCode,
  namedPerson,
  newPassword,
  shownRoles,
  userId,
} from './person.ts';
import { RECOVERY_STEPS } from '../../../domain/accounts/recovery.ts';
import { givenCredential } from './passkey.ts';
import { RECOVERY_CODES } from '../../../security/recovery-code.ts';
import { objectSchema, time } from '../primitives.ts';

export const logInSchema = objectSchema('LogIn', {
  // Its form is not checked: text that is not an e-mail address matches no account.
  email: z
    .string()
    .max(1000)
    // The only character that the database cannot store.
    .refine((text) => !text.includes('\0'), { error: 'email must be an e-mail address.' })
    .transform((text) => text.trim().toLowerCase())
    .meta({ example: 'amina@shop.example', override: { type: 'string', maxLength: 1000, pattern: '^[^\\u0000]*$' } }),
  password: givenPassword,
  totp: givenCode.optional(),
  recovery_code: givenRecoveryCode.optional(),
  passkey: givenCredential.optional(),
  merchant_id: z.string().max(100).optional().meta({
    description:
      'For a person with several merchants. Default: the merchant that they joined first. The session names the others.',
  }),
});

export const switchMerchantSchema = objectSchema('SwitchMerchant', {
  merchant_id: z.string().max(100).meta({ description: 'One of the `merchants` of the session.' }),
});

/** The person whose passkey is to be used: the e-mail address as in a log-in. */
export const passkeyLogInSchema = logInSchema.pick({ email: true }).meta({ id: 'StartPasskeyLogIn' });

export const stepUpSchema = objectSchema('StepUp', {
  totp: givenCode.optional().meta({ description: 'For a person with a second factor.' }),
  passkey: givenCredential.optional(),
  password: givenPassword.optional().meta({ description: 'For a person without a second factor.' }),
});

export const changePasswordSchema = objectSchema('ChangePassword', {
  current_password: givenPassword,
  new_password: newPassword('new_password'),
});

export const recoverSchema = objectSchema('Recover', {
  token: z.string().max(200),
  new_password: newPassword('new_password'),
});

export const startSecondFactorSchema = objectSchema('StartSecondFactor', { password: givenPassword });
export const confirmSecondFactorSchema = objectSchema('ConfirmSecondFactor', { totp: givenCode });
export const createRecoveryCodesSchema = objectSchema('CreateRecoveryCodes', { password: givenPassword });
export const removeSecondFactorSchema = objectSchema('RemoveSecondFactor', {
  password: givenPassword,
  totp: givenCode,
});

export const startedSecondFactorSchema = objectSchema('StartedSecondFactor', {
  secret: z
    .string()
    .regex(/^[A-Z2-7]{32}$/)
    .meta({ description: 'Base32, to type into an authenticator app. Shown only this once.' }),
  otpauth_url: z.string().meta({ description: 'The same secret as a URI, for a QR code.' }),
});

export const recoveryCodesSchema = objectSchema('RecoveryCodes', {
  codes: z
    .array(z.string().regex(/^[0-9a-f]{5}(-[0-9a-f]{5}){3}$/))
    .length(RECOVERY_CODES)
    .meta({
      description: 'Each code replaces the second factor at one log-in. Shown only this once.',
      example: Array.from({ length: RECOVERY_CODES }, (_, n) => `0a1b2-c3d4e-5f607-1829${n}`),
    }),
});

const merchant = z.strictObject({ id: z.string(), name: z.string() });

export const sessionSchema = objectSchema('Session', {
  person: z.strictObject({ id: userId, name: z.string(), email }),
  merchant: merchant.extend({ currency: z.string() }).meta({ description: 'The merchant that this session acts for.' }),
  environment: z
    .enum(ENVIRONMENTS)
    .meta({ description: 'The environment of this service. Only `live` moves real money.' }),
  roles: shownRoles,
  scopes: z.array(z.enum(SCOPES)).meta({ description: 'What the roles allow under `/v1/api`.' }),
  has_second_factor: z.boolean(),
  second_factor_at: time
    .nullable()
    .meta({ description: 'When this session last proved the second factor. The proof is fresh for five minutes.' }),
  factors: z
    .strictObject({
      totp: z.boolean().meta({ description: 'One-time codes of an authenticator app.' }),
      passkeys: z.int().min(0),
      recovery_codes: z.int().min(0).meta({ description: 'How many unused codes are left.' }),
    })
    .meta({ description: 'What the person has enrolled.' }),
  must_enrol: z.boolean().meta({
    description:
      'True: a role requires a second factor that this person must still enrol. Until then the session can call only ' +
      '`/v1/console/session` and the routes under it.',
  }),
  fresh_until: time.nullable().meta({
    description:
      'Until then the session can call operations that need a step-up: for five minutes after the second factor was ' +
      'verified, or the password of a person who neither has nor needs one. Null: never verified.',
  }),
  needs_step_up: z
    .array(z.string())
    .meta({ description: 'The `operationId` of every operation that is refused after `fresh_until`.' }),
  failed_log_ins: z
    .strictObject({ count: z.int().min(1), last_at: time, last_address: z.string().nullable() })
    .nullable()
    .meta({ description: 'Failed log-ins between this log-in and the previous one. Null: none.' }),
  created_at: time,
  ends_at: time.meta({ description: 'The end of the session if it is not used before then.' }),
  expires_at: time.meta({ description: 'The latest end of the session, however often it is used.' }),
  waits_for_you: z
    .strictObject({
      invitations: z.int(),
      member_changes: z.int(),
      policy_changes: z.int(),
      payouts: z
        .int()
        .min(0)
        .max(MAX_WAITING_SHOWN)
        .meta({
          description: `Queued payouts that this person may release. ${MAX_WAITING_SHOWN} means that many or more.`,
        }),
      reversals: z
        .int()
        .min(0)
        .max(MAX_WAITING_SHOWN)
        .meta({ description: 'Queued refunds that this person may release, counted in the same way.' }),
    })
    .meta({ description: 'How much waits for this person’s decision at the merchant of the session.' }),
  moves_money_from: time.nullable().meta({
    description:
      'From when this person may move money of the merchant, after they became an owner or approver or their account ' +
      'was recovered. Null: no such waiting time.',
  }),
  needs_second_owner: z.boolean().meta({
    description: 'True: nothing is paid out or refunded before another owner of the merchant has a second factor.',
  }),
  in_recovery: z.boolean().meta({
    description:
      'True: the database of the service was restored, and nothing is sent, released, rejected or cancelled before the staff have ' +
      'opened the service again.',
  }),
  notices: z
    .array(
      z.strictObject({
        kind: z.literal('recovery'),
        step: z.enum(RECOVERY_STEPS),
        person: namedPerson.meta({ description: 'Whose account it is.' }),
        staff: z
          .string()
          .nullable()
          .meta({ description: 'The member of the service’s staff. Null for the use of the recovery.' }),
        at: time,
      }),
    )
    .meta({
      description:
        'Recoveries of accounts by the service’s staff in the last seven days, newest first. Owners and admins see those ' +
        'of everybody at the merchant, others see their own. If the person did not ask for the recovery, somebody else ' +
        'has taken over the account: tell the staff.',
    }),
  merchants: z.array(merchant).meta({ description: 'All merchants that the person can log in to.' }),
});

export type SessionObject = z.input<typeof sessionSchema>;

/** They require a fresh second factor of a person who has one; otherwise a fresh password is enough. */
const ENROLMENTS = ['startPasskey', 'registerPasskey'];
/** As the enrolments. A person who must still enrol a factor here gives the password again. */
const SWITCH = 'switchMerchant';

type Service = { readonly environment: Environment; readonly stepUpOperations: readonly string[] };

export function sessionObject(session: OwnSession, { environment, stepUpOperations }: Service): SessionObject {
  const { person, failedLogIns } = session;
  return {
    person: { id: person.userId, name: session.name, email: session.email },
    merchant: { id: person.merchantId, name: session.merchantName, currency: person.merchantCurrency },
    environment,
    roles: [...person.roles],
    scopes: scopesOfRoles(person.roles),
    has_second_factor: person.hasSecondFactor,
    second_factor_at: person.secondFactorAt?.toISOString() ?? null,
    factors: {
      totp: session.factors.hasTotp,
      passkeys: session.factors.passkeys,
      recovery_codes: session.factors.recoveryCodes,
    },
    must_enrol: mustEnrol(person),
    fresh_until: freshUntil(person)?.toISOString() ?? null,
    needs_step_up: [...stepUpOperations, SWITCH, ...(person.hasSecondFactor ? ENROLMENTS : [])],
    failed_log_ins: failedLogIns && {
      count: failedLogIns.count,
      last_at: failedLogIns.lastAt.toISOString(),
      last_address: failedLogIns.lastAddress,
    },
    created_at: session.createdAt.toISOString(),
    ends_at: sessionEndsAt(session).toISOString(),
    expires_at: sessionExpiresAt(session).toISOString(),
    waits_for_you: {
      reversals: session.waitsForYou.reversals,
      invitations: session.waitsForYou.invitations,
      member_changes: session.waitsForYou.memberChanges,
      policy_changes: session.waitsForYou.policyChanges,
      payouts: session.waitsForYou.payouts,
    },
    moves_money_from: session.movesMoneyFrom?.toISOString() ?? null,
    needs_second_owner: session.needsSecondOwner,
    in_recovery: session.isInRecovery,
    notices: session.recoveries.map(({ step, person: whose, staff, at }) => ({
      kind: 'recovery' as const,
      step,
      person: whose,
      staff,
      at: at.toISOString(),
    })),
    merchants: session.merchants.map(({ id, name }) => ({ id, name })),
  };
}
