#!/usr/bin/env node
// Prints the current one-time code for a secret in base32, as an authenticator app does: node totp.mjs SECRET
import { createHmac } from 'node:crypto';
import { endWithUsage, readArguments } from '../../src/arguments.mjs';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

const USAGE = 'usage: node docs/examples/totp.mjs SECRET   (base32)';
const { positionals } = readArguments({ usage: USAGE, positionals: [1, 1] });
const [secret] = positionals;
if (!/^[A-Z2-7]+$/.test(secret)) endWithUsage('The secret is not base32', USAGE);
const bits = [...secret].map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('');
const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)));
const counter = Buffer.alloc(8);
counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
const digest = createHmac('sha1', key).update(counter).digest();
const number = digest.readUInt32BE(digest.at(-1) & 0x0f) & 0x7fff_ffff;
console.log(String(number % 1_000_000).padStart(6, '0'));
