// Addresses of the web: which text is one, and which hosts there can be.
import assert from 'node:assert/strict';
import { parseWebAddress } from '../../src/domain/web-address.ts';

const label = (length: number) => 'a'.repeat(length);
/** A name of this length, with labels of allowed length. */
const nameOf = (length: number) => [label(length - 192), label(63), label(63), label(63)].join('.');

describe('an address of the web', () => {
  const accepted: readonly (readonly [string, string])[] = [
    ['https://shop.example/hooks?a=b#c', 'shop.example'],
    ['http://shop.example', 'shop.example'],
    ['HTTPS://shop.example/', 'shop.example'],
    ['HttpS://Shop.Example:8443/', 'shop.example'],
    ['https://shop.example./', 'shop.example.'],
    ['https://127.0.0.1/', '127.0.0.1'],
    ['http://user:p%40ss@127.0.0.1:8080/%41', '127.0.0.1'],
    ['https://127.0.0.1:', '127.0.0.1'],
    ['https://127.0.0.1?a%', '127.0.0.1'],
    ['https://[2606:4700::1]/', '[2606:4700::1]'],
    [`https://${label(63)}.example/`, `${label(63)}.example`],
    [`https://${nameOf(253)}/`, nameOf(253)],
    [`https://${nameOf(253)}./`, `${nameOf(253)}.`],
    ['https://bücher.example/', 'xn--bcher-kva.example'],
  ];
  for (const [text, host] of accepted) {
    it(`is ${text.slice(0, 50)}`, () => {
      assert.equal(parseWebAddress(text)?.hostname, host);
    });
  }

  const refused: readonly (readonly [string, string])[] = [
    ['no host', 'https:///x'],
    ['more slashes', 'https:////shop.example/x'],
    ['no slashes', 'https:shop.example'],
    ['one slash', 'https:/shop.example'],
    ['a backslash', 'https:\\\\shop.example\\x'],
    ['a backslash behind the host', 'https://shop.example\\@other.example/'],
    ['nothing but its scheme', 'https://'],
    ['a query for a host', 'https://?x'],
    ['white space', 'https://shop.example/a b'],
    ['a line break', 'https://shop.exa\nmple/'],
    ['white space before it', ' https://shop.example/'],
    ['another scheme', 'ftp://shop.example/'],
    ['no scheme', 'shop.example/hooks'],
    ['a label of 64 characters', `https://${label(64)}.example/`],
    ['a name of 254 characters', `https://${nameOf(254)}/`],
    ['an empty label', 'https://shop..example/'],
    ['an empty first label', 'https://.shop.example/'],
    ['two dots at its end', 'https://shop.example../'],
    ['a dot for a host', 'https://./'],
    ['an escape in its host', 'https://ex%41mple.com/'],
    ['an escaped dot in its host', 'https://shop%2eexample/'],
    ['an escaped address', 'https://127.0.0.%31/'],
    ['an address of three numbers', 'https://1.2.3'],
    ['an address of one number', 'https://2130706433/'],
    ['a hexadecimal address', 'https://0x7f.1/'],
    ['an octal address', 'https://0177.0.0.1:443/'],
    ['an address with a dot at its end', 'https://127.0.0.1./'],
    ['an address in full-width digits', 'https://１２７.0.0.1/'],
    ['a number for a host behind a person', 'https://127.0.0.1@2130706433/'],
    ['a label that is too long once it is written in ASCII', `https://${'ü'.repeat(60)}.example/`],
  ];
  for (const [what, text] of refused) {
    it(`is refused with ${what}`, () => {
      assert.equal(parseWebAddress(text), null);
    });
  }
});
