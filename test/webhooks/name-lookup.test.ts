// Tests the look-up of webhook host names with real name servers that answer correctly, wrongly, inconsistently or not at all.
import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { createAddressGuard, type AddressGuardOptions } from '../../src/webhooks/address-guard.ts';
import type { AttemptResult } from '../../src/domain/webhooks/delivery.ts';
import { startCountedListener, type CountedListener } from '../support/counted-listener.ts';
import { openTestSender, type TestSender } from '../support/webhook-senders.ts';
import { eventually } from '../support/test-environment.ts';
import { startNameServer, type NameServer } from '../support/name-server.ts';

/** Counts as public, but is assigned to nobody, so no connection to it succeeds. */
const UNASSIGNED = '3000::1';
const REFUSED = 'not sent: the name leads to an address that is not of the public internet';
const PLENTY_MS = 60_000;

let names: NameServer;
beforeEach(async () => {
  names = await startNameServer();
});
afterEach(async () => {
  await names.stop();
});

describe('the look-up of a host name', () => {
  function lookUp(name: string, options: Partial<AddressGuardOptions> = {}) {
    const guard = createAddressGuard({
      allowsLoopback: false,
      timeoutMs: PLENTY_MS,
      nameServers: [names.address],
      ...options,
    });
    return new Promise<LookupAddress[]>((resolve, reject) => {
      guard.lookup(name, { all: true }, (error, found) => {
        if (error) reject(error);
        else resolve(found as LookupAddress[]);
      });
    });
  }

  it('returns the addresses of both families, IPv4 first', async () => {
    names.setAnswer('both.example', { addresses: ['2606:4700:4700::1111', '1.1.1.1', '8.8.8.8'] });
    assert.deepEqual(await lookUp('both.example'), [
      { address: '1.1.1.1', family: 4 },
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700:4700::1111', family: 6 },
    ]);
  });

  it('returns one address to a caller that asks for one', async () => {
    names.setAnswer('one.example', { addresses: ['1.1.1.1', '8.8.8.8'] });
    const guard = createAddressGuard({ allowsLoopback: false, nameServers: [names.address] });
    const found = await new Promise((resolve) => {
      guard.lookup('one.example', {}, (error, address, family) => {
        resolve([error, address, family]);
      });
    });
    assert.deepEqual(found, [null, '1.1.1.1', 4]);
  });

  it('follows aliases', async () => {
    names.setAnswer('alias.example', { aliases: ['b.example', 'c.example'], addresses: ['1.1.1.1'] });
    assert.deepEqual(await lookUp('alias.example'), [{ address: '1.1.1.1', family: 4 }]);
  });

  it('succeeds with one family when the other is missing, fails or gets no answer', async () => {
    for (const other of ['no such name', 'failure', 'silence'] as const) {
      names.setAnswer('half.example', (family) => (family === 4 ? { addresses: ['1.1.1.1'] } : other));
      assert.deepEqual(await lookUp('half.example'), [{ address: '1.1.1.1', family: 4 }], other);
      names.setAnswer('half.example', (family) => (family === 6 ? { addresses: ['2606:4700:4700::1111'] } : other));
      assert.deepEqual(await lookUp('half.example'), [{ address: '2606:4700:4700::1111', family: 6 }], other);
    }
  });

  it('asks again when a query is lost', async () => {
    names.setAnswer('lossy.example', (_family, asked) => (asked === 0 ? 'silence' : { addresses: ['1.1.1.1'] }));
    assert.deepEqual(await lookUp('lossy.example', { timeoutMs: 3000 }), [{ address: '1.1.1.1', family: 4 }]);
  });

  it('waits for a slow name server', async () => {
    let isAsked: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => (isAsked = resolve));
    let speak: () => void = () => undefined;
    const spoken = new Promise<void>((resolve) => (speak = resolve));
    names.setAnswer('slow.example', async () => {
      isAsked();
      await spoken;
      return { addresses: ['1.1.1.1'] };
    });
    const found = lookUp('slow.example');
    await asked;
    speak();
    assert.deepEqual(await found, [{ address: '1.1.1.1', family: 4 }]);
  });

  it('returns at most eight of many addresses', async () => {
    names.setAnswer('many.example', { addresses: Array.from({ length: 20 }, (_, index) => `9.9.9.${index + 1}`) });
    assert.equal((await lookUp('many.example')).length, 8);
  });

  const WITHOUT = [
    ['no such name', 'the host name was not found'],
    ['failure', 'the name servers could not look up the host name'],
    [{ addresses: [] }, 'the host name has no address'],
    [{ addresses: [], aliases: ['elsewhere.example'] }, 'the host name has no address'],
  ] as const;
  for (const [said, message] of WITHOUT) {
    it(`fails with “${message}” when the answer is ${JSON.stringify(said)}`, async () => {
      names.setAnswer('gone.example', said);
      await assert.rejects(lookUp('gone.example'), { message, code: 'NAME_LOOKUP_FAILED' });
    });
  }

  it('reports an invalid host name without asking a name server', async () => {
    const name = `${'a'.repeat(64)}.example`;
    await assert.rejects(lookUp(name), { message: 'the host name is not valid' });
    assert.equal(names.queries(name), 0);
  });

  it('ends in time when no name server answers, however many there are', async () => {
    const servers = [names, await startNameServer(), await startNameServer()];
    for (const server of servers) server.setAnswer('dead.example', 'silence');
    const nameServers = servers.map(({ address }) => address);
    await assert.rejects(lookUp('dead.example', { timeoutMs: 500, nameServers }), {
      message: 'no name server answered in time',
    });
    // Two queries to each server, twice, would take longer.
    const asked = servers.reduce((sum, server) => sum + server.queries('dead.example'), 0);
    assert.ok(asked >= 2 && asked < 12, `${asked} questions`);
    await Promise.all(servers.slice(1).map((server) => server.stop()));
  });

  it('ends at once when the guard is closed', async () => {
    names.setAnswer('dead.example', 'silence');
    const guard = createAddressGuard({ allowsLoopback: false, timeoutMs: PLENTY_MS, nameServers: [names.address] });
    const ended = new Promise<Error | null>((resolve) => {
      guard.lookup('dead.example', { all: true }, resolve);
    });
    await eventually('the name to be asked for', () => names.queries('dead.example') > 0);
    guard.close();
    assert.equal((await ended)?.message, 'no name server answered in time');
    assert.ok(names.queries('dead.example') <= 2, 'it was asked for again');
  });

  it('resolves the machine’s own name without a name server, and only when loopback is allowed', async () => {
    for (const name of ['localhost', 'LOCALHOST', 'localhost.', 'here.localhost']) {
      names.setAnswer(name.toLowerCase(), { addresses: ['8.8.8.8'] });
      await assert.rejects(lookUp(name), { code: 'ADDRESS_REFUSED' });
      assert.deepEqual(await lookUp(name, { allowsLoopback: true }), [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ]);
      assert.equal(names.queries(name.toLowerCase()), 0);
    }
  });

  it('returns loopback for another name when that is allowed, but no private address', async () => {
    names.setAnswer('here.example', { addresses: ['127.0.0.1'] });
    names.setAnswer('near.example', { addresses: ['127.0.0.1', '10.0.0.1'] });
    const allowsLoopback = true;
    assert.deepEqual(await lookUp('here.example', { allowsLoopback }), [{ address: '127.0.0.1', family: 4 }]);
    await assert.rejects(lookUp('near.example', { allowsLoopback }), { code: 'ADDRESS_REFUSED' });
  });
});

describe('an attempt to a host name', () => {
  let listener: CountedListener;
  const senders: TestSender[] = [];
  before(async () => {
    listener = await startCountedListener();
  });
  after(async () => {
    await listener.stop();
  });
  afterEach(async () => {
    await Promise.all(senders.splice(0).map((sender) => sender.close()));
    assert.equal(listener.connections(), 0);
  });

  function open(options: Parameters<typeof openTestSender>[0] = {}): TestSender {
    const sender = openTestSender({ allowsLoopback: false, nameServers: [names.address], ...options });
    senders.push(sender);
    return sender;
  }
  const urlOf = (name: string) => `https://${name}:${listener.port}/hook`;
  const errorOf = (result: AttemptResult) => (result.kind === 'no_answer' ? result.error : 'answered');

  it('looks the name up once for each connection, so that a second answer cannot redirect it', async () => {
    const sender = open({ connectTimeoutMs: 1000 });
    // The first answer passes the check; every later one leads to the machine itself.
    names.setAnswer('rebound.example', (family, asked) => {
      if (asked > 0) return { addresses: ['127.0.0.1', '::1'] };
      return { addresses: family === 6 ? [UNASSIGNED] : [] };
    });
    const first = await sender.try(urlOf('rebound.example'));
    assert.match(errorOf(first.result), /^(no connection within 1 s|the host cannot be reached)$/);
    assert.equal(names.queries('rebound.example'), 2);
    assert.equal(errorOf((await sender.try(urlOf('rebound.example'))).result), REFUSED);
    assert.equal(names.queries('rebound.example'), 4);
  });

  it('is refused when the address of one family is public and that of the other is not', async () => {
    const sender = open();
    names.setAnswer('half-bad.example', (family) => ({ addresses: family === 6 ? [UNASSIGNED] : ['127.0.0.1'] }));
    assert.equal(errorOf((await sender.try(urlOf('half-bad.example'))).result), REFUSED);
  });

  it('records why there is no address', async () => {
    const sender = open({ connectTimeoutMs: 500 });
    names.setAnswer('empty.example', { addresses: [] });
    names.setAnswer('dead.example', 'silence');
    const errors: Record<string, string> = {};
    for (const name of ['gone.example', 'empty.example', 'dead.example']) {
      errors[name] = errorOf((await sender.try(urlOf(name))).result);
    }
    assert.deepEqual(errors, {
      'gone.example': 'not sent: the host name was not found',
      'empty.example': 'not sent: the host name has no address',
      'dead.example': 'not sent: no name server answered in time',
    });
  });

  it('delays no other attempt while its name servers are silent', async () => {
    const sender = open({ connectTimeoutMs: PLENTY_MS, attemptTimeoutMs: PLENTY_MS });
    const DEAD = 50;
    let ended = 0;
    const dead = Array.from({ length: DEAD }, (_, index) => {
      names.setAnswer(`dead-${index}.example`, 'silence');
      return sender.try(urlOf(`dead-${index}.example`)).then(() => (ended += 1));
    });
    await eventually('all names to be asked for', () =>
      dead.every((_, index) => names.queries(`dead-${index}.example`) >= 2),
    );
    names.setAnswer('healthy.example', { addresses: ['10.0.0.1'] });
    assert.equal(errorOf((await sender.try(urlOf('healthy.example'))).result), REFUSED);
    assert.equal(ended, 0);
    await sender.close();
    await Promise.all(dead);
  });
});
