// A name server on loopback that answers each name as the test sets it, by real DNS over UDP.
import { createSocket, type RemoteInfo } from 'node:dgram';
import { isIPv4, isIPv6 } from 'node:net';

/** The answer for a name: addresses of either family behind optional aliases, an error, or no answer at all. */
export type NameAnswer =
  | { readonly addresses: readonly string[]; readonly aliases?: readonly string[] }
  | 'no such name'
  | 'failure'
  | 'silence';

/** `queriesBefore` counts the earlier queries of this family. */
export type NameRule = NameAnswer | ((family: 4 | 6, queriesBefore: number) => NameAnswer | Promise<NameAnswer>);

export type NameServer = {
  /** As resolvers are configured: `address:port`. */
  readonly address: string;
  /** Sets the answer for a name. Every other name is answered with "no such name". */
  setAnswer(name: string, rule: NameRule): void;
  /** The number of queries for the name, of both families. */
  queries(name: string): number;
  stop(): Promise<void>;
};

type Question = { readonly id: number; readonly name: string; readonly type: number; readonly raw: Buffer };

const TYPE = { A: 1, CNAME: 5, AAAA: 28 } as const;
const CODE = { ok: 0, failure: 2, noSuchName: 3 } as const;
const HEADER_BYTES = 12;
const TTL_S = 0;

export async function startNameServer(): Promise<NameServer> {
  // A large buffer for many queries at once, because resolvers repeat a dropped query only much later.
  const socket = createSocket({ type: 'udp4', recvBufferSize: 1024 * 1024 });
  const rules = new Map<string, NameRule>();
  const counts = new Map<string, number>();
  let isStopped = false;

  async function answer(message: Buffer, from: RemoteInfo): Promise<void> {
    const question = readQuestion(message);
    const family = question.type === TYPE.AAAA ? 6 : 4;
    const key = `${question.name} ${family}`;
    const queriesBefore = counts.get(key) ?? 0;
    counts.set(key, queriesBefore + 1);
    const rule = rules.get(question.name) ?? 'no such name';
    const result = typeof rule === 'function' ? await rule(family, queriesBefore) : rule;
    if (result === 'silence' || isStopped) return;
    socket.send(writeAnswer(question, result), from.port, from.address);
  }

  socket.on('message', (message, from) => void answer(message, from));
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve);
  });
  return {
    address: `127.0.0.1:${socket.address().port}`,
    setAnswer: (name, rule) => void rules.set(name, rule),
    queries: (name) => (counts.get(`${name} 4`) ?? 0) + (counts.get(`${name} 6`) ?? 0),
    async stop() {
      isStopped = true;
      await new Promise<void>((resolve) => {
        socket.close(resolve);
      });
    },
  };
}

function readQuestion(message: Buffer): Question {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const end = at + 5;
  return {
    id: message.readUInt16BE(0),
    name: labels.join('.').toLowerCase(),
    type: message.readUInt16BE(at + 1),
    raw: message.subarray(HEADER_BYTES, end),
  };
}

function writeAnswer(question: Question, answer: Exclude<NameAnswer, 'silence'>): Buffer {
  if (answer === 'failure') return message(question, CODE.failure, []);
  if (answer === 'no such name') return message(question, CODE.noSuchName, []);
  const records: Buffer[] = [];
  let name = question.name;
  for (const alias of answer.aliases ?? []) {
    records.push(record(name, TYPE.CNAME, encodeName(alias)));
    name = alias;
  }
  for (const address of answer.addresses) {
    if (question.type === TYPE.A && isIPv4(address)) records.push(record(name, TYPE.A, ipv4Bytes(address)));
    if (question.type === TYPE.AAAA && isIPv6(address)) records.push(record(name, TYPE.AAAA, ipv6Bytes(address)));
  }
  return message(question, CODE.ok, records);
}

function message({ id, raw }: Question, code: number, records: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(id, 0);
  // A response, with recursion desired and available.
  header.writeUInt16BE(0x8180 | code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, raw, ...records]);
}

function record(name: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(TTL_S, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([encodeName(name), fixed, data]);
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function ipv4Bytes(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number));
}

function ipv6Bytes(address: string): Buffer {
  // The URL parser writes an IPv4 tail as two groups.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (part: string) => part.split(':').filter((group) => group !== '');
  const [before, after] = [groups(head), groups(tail ?? '')];
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return Buffer.from([...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(''), 'hex');
}
