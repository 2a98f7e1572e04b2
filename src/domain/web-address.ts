// Addresses of the web that people and programs give us, as far as every program reads them in the same way.
import { isIP } from 'node:net';

// A parser of URLs also takes `https:x` and `https:///x` for a host, and a backslash for a slash.
const FORM = /^https?:\/\/([^/\\?#\s]+)[^\\\s]*$/i;
const MAX_NAME_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;

/**
 * The URL of an absolute http or https address, whatever the case of its scheme; null for other text, for a host that no name
 * server can know (with an empty label, one over 63 characters, or over 253 in all), and for one with an escape or with an IPv4
 * address in another form than four decimal numbers, which some programs read and others look up as a name.
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
  // The root of all names may be written as a last dot.
  const name = hostname.replace(/\.$/, '');
  const labels = name.split('.');
  return name.length <= MAX_NAME_LENGTH && labels.every(({ length }) => length >= 1 && length <= MAX_LABEL_LENGTH);
}
