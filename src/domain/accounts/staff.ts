// The service's staff, as they name themselves when they act.

/** The name under which one of the staff acts, in lower case. It is a claim: nothing here proves it. */
export type Staff = string & { readonly __noun: 'staff' };

/** The name in its one spelling; null when it has not the form of a name. */
export function parseStaff(text: string): Staff | null {
  const name = text.toLowerCase();
  return /^[a-z0-9][a-z0-9._@+-]{1,99}$/.test(name) ? (name as Staff) : null;
}
