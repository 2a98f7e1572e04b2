// People on the wire: the fields that they type, and how responses name them.
import { z } from 'zod';
import { choiceOf, idOf, objectSchema, patternAlone, unlessMissing } from '../primitives.ts';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../../security/password.ts';
import { ROLES } from '../../../domain/accounts/member.ts';

const EMAIL_MESSAGE = 'email must be an e-mail address.';
const LENGTH_MESSAGE = `must be ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters.`;

const EMAIL =
  '^[A-Za-z0-9_%+-]+(\\.[A-Za-z0-9_%+-]+)*@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z]{2,63}$';
const MAX_BEFORE_AT = 64;

/** In lower case, so that one address belongs to one person. */
export const email = z
  .string({ error: unlessMissing(EMAIL_MESSAGE) })
  .max(254, { error: EMAIL_MESSAGE })
  .regex(new RegExp(EMAIL), { error: EMAIL_MESSAGE })
  .refine((text) => text.indexOf('@') <= MAX_BEFORE_AT, { error: EMAIL_MESSAGE })
  .transform((text) => text.toLowerCase())
  .meta({
    example: 'amina@shop.example',
    override: patternAlone(EMAIL),
  });

/** A new password. Its length is checked here; the routes check whether it is easily guessed. */
export function newPassword(name: string) {
  return z
    .string({ error: unlessMissing(`${name} must be text.`) })
    .min(MIN_PASSWORD_LENGTH, { error: `${name} ${LENGTH_MESSAGE}` })
    .max(MAX_PASSWORD_LENGTH, { error: `${name} ${LENGTH_MESSAGE}` })
    .meta({
      description: `${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters of any kind, and not a common password, a pattern or a name of yours.`,
    });
}

/** A password to compare. Its form is not checked: text that cannot be a password is simply wrong. */
export const givenPassword = z.string().max(1000).meta({ description: 'The current password.' });

/** A code to compare, with or without the space that authenticator apps show in it. */
export const givenCode = z
  .string()
  .max(20)
  .transform((text) => text.replace(/\s+/g, ''))
  .meta({
    description: 'The six digits that the authenticator app shows. Each works once.',
    example: '287082',
    override: { type: 'string', maxLength: 20 },
  });

/** A recovery code to compare, with any spacing. */
export const givenRecoveryCode = z.string().max(40).meta({
  description: 'Replaces a lost second factor. Each code works once.',
  example: '0a1b2-c3d4e-5f607-18293',
});

const role = z.enum(ROLES).meta({ id: 'Role' });

/** Roles to grant: at least one, each once. */
export const givenRoles = choiceOf('roles', role, 'role').meta({ example: ['maker'], uniqueItems: true });

export const shownRoles = z.array(role);

export const userId = idOf('usr');

/** A person as records about another object name them. */
export const namedPerson = objectSchema('NamedPerson', {
  id: userId,
  name: z.string().meta({ description: 'A name that the person chose.', example: 'Amina' }),
  email: z.string().meta({ example: 'amina@shop.example' }),
});

/** A person as payments and the audit log name them. */
export const knownPerson = objectSchema('KnownPerson', {
  id: userId,
  name: z
    .string()
    .nullable()
    .meta({ description: 'Null: the account is not as this service recorded it.', example: 'Amina' }),
  email: z.string().nullable().meta({ example: 'amina@shop.example' }),
});
