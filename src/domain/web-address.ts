// Web addresses from people and programs, limited to forms that every program reads in the same way.
import { isIP } from 'node:net';

// A URL parser also accepts `https:x` and `https:///x` as a host, and a backslash as a slash.
const FORM = /^https?:\/\/([^/\\?#\s]+)[^\\\s]*$/i;
const MAX_NAME_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;

/**
 * The URL of an absolute http or https address, whatever the case of its scheme. Null for other text, for a host that
 * no name server can know (with an empty label, one over 63 characters, or over 253 in all), and for an escape or an
 * IPv4 address in another form than four decimal numbers: some programs read such a form, others look it up as a name.
 */
export function parseWebAddress(text: string): URL | null {
  const [, authority] = FORM.exec(text) ?? [];
  if (authority === undefined || !URL.canParse(text)) return null;
  const url = new URL(text);
  const host = authority.replace(/^.*@/, '').replace(/:\d*$/, '');
  const isReadAlike = !host.includes('%') && (isIP(url.hostname) === 0 || host === url.hostname);
  return isReadAlike && isPossibleHost(url.hostname) ? url : null;
}

function isPossibleHost(hostname: string): boolean {
  if (hostname.startsWith('[') || isIP(hostname) !== 0) return true;
  // A last dot may stand for the root of all names.
  const name = hostname.replace(/\.$/, '');
  const labels = name.split('.');
  return name.length <= MAX_NAME_LENGTH && labels.every(({ length }) => length >= 1 && length <= MAX_LABEL_LENGTH);
}
