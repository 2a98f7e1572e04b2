// Tests attempts to non-public addresses in every notation: a listener on this machine must never get a connection.
import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { openTestSender, type TestSender } from '../support/webhook-senders.ts';
import { startCountedListener, type CountedListener } from '../support/counted-listener.ts';
import { startNameServer, type NameServer } from '../support/name-server.ts';

/** The host part of URLs, by kind of address. */
const HOSTS: Readonly<Record<string, readonly string[]>> = {
  'loopback, IPv4': ['127.0.0.1', '127.0.0.2', '127.255.255.254', '127.0.0.1.'],
  'short forms': ['127.1', '127.0.1', '127.65535', '0', '0.0', '0.0.0', '10.1', '192.168.257'],
  decimal: ['2130706433', '2130706434', '3232235777', '2852039166', '167772161', '4294967295'],
  hexadecimal: ['0x7f000001', '0x7f.0x0.0x0.0x1', '0x7f.1', '0X7F.0.0.1', '0x0', '0xa9fea9fe', '0xc0a80101'],
  octal: ['0177.0.0.1', '0177.1', '017700000001', '0177.0x0.0.1', '00000177.0.0.01', '012.1.2.3', '0'],
  'percent-encoded': ['%31%32%37.0.0.1', '127%2e0%2e0%2e1', '%6c%6f%63%61%6c%68%6f%73%74'],
  'other digits and dots': ['１２７.0.0.1', '①②⑦.⓪.⓪.①', '⑯⑨.254.169.254', '127。0。0。1', '127．0．0．1', '127｡0｡0｡1'],
  'mathematical digits': ['𝟏𝟐𝟕.𝟎.𝟎.𝟏', '𝟙𝟚𝟟.𝟘.𝟘.𝟙', '²130706433', '0𝟙77.0.0.1', '0ｘ7f000001'],
  'soft hyphens and joiners': ['127.0\u00ad.0.1', '127.0.0\u200b.1', '1\u206027.0.0.1', 'local\u00adhost'],
  'names of the machine itself': ['localhost', 'LOCALHOST', 'LocalHost.', 'ｌocalhost', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ', 'a.localhost'],
  'private, IPv4': ['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
  'link-local and metadata': ['169.254.169.254', '169.254.170.2', '169.254.0.23', '100.100.100.200', '192.0.0.192'],
  'a cloud’s own, whose number looks public': ['168.63.129.16'],
  'carrier-grade NAT': ['100.64.0.1', '100.127.255.254'],
  'unspecified and broadcast': ['0.0.0.0', '0.1.2.3', '255.255.255.255'],
  'multicast and reserved, IPv4': ['224.0.0.1', '239.255.255.250', '240.0.0.1', '254.1.1.1'],
  'documentation and benchmarks': ['192.0.2.2', '198.51.100.1', '203.0.113.1', '198.18.0.1', '198.19.255.254'],
  'loopback, IPv6': ['[::1]', '[0:0:0:0:0:0:0:1]', '[0000:0000::0001]', '[::0.0.0.1]', '[0:0::0:1]'],
  'unspecified, IPv6': ['[::]', '[0:0:0:0:0:0:0:0]', '[::0]', '[::0.0.0.0]'],
  'IPv4 mapped': ['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:7f00:0001]', '[::FFFF:a9fe:a9fe]'],
  'IPv4 compatible and translated': ['[::127.0.0.1]', '[::7f00:1]', '[::ffff:0:127.0.0.1]', '[::10.0.0.1]'],
  NAT64: ['[64:ff9b::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b:1::7f00:1]'],
  '6to4 and Teredo': ['[2002:7f00:1::]', '[2002:a9fe:a9fe::1]', '[2001:0:7f00:1::1]', '[2001::80ff:fffe]'],
  'unique local, IPv6': ['[fc00::1]', '[fd00:ec2::254]', '[fd20:ce::254]', '[fdff:ffff::1]'],
  'link-local and site-local, IPv6': ['[fe80::1]', '[febf::1]', '[fe80::a9fe:a9fe]', '[fec0::1]', '[feff::1]'],
  'multicast, IPv6': ['[ff02::1]', '[ff0e::1]', '[ff05::1:3]'],
  'documentation and assignments, IPv6': ['[2001:db8::1]', '[3fff::1]', '[2001:2::1]', '[2001:10::1]', '[2001:20::1]'],
  'unassigned and dummy, IPv6': ['[100::1]', '[100:0:0:1::1]', '[5f00::1]', '[4000::1]', '[1::1]'],
};

/** URLs that a careless parser assigns to another host; `PORT` stands for the listener's port. */
const WHOLE_URLS = [
  'https://127.0.0.1:PORT\\@example.com/',
  'https:127.0.0.1:PORT/',
  'https:/127.0.0.1:PORT/',
  'https:///127.0.0.1:PORT/',
  'https:\\\\127.0.0.1:PORT\\',
  ' \t\nhttps://127.0.0.1:PORT/ \n',
  'ht\ntps://127.\t0.0.1:PORT/',
  'HTTPS://127.0.0.1:0PORT/',
  'https://127.0.0.1:PORT#@example.com/',
  'https://127.0.0.1:PORT?@example.com/',
  'https://example.com@127.0.0.1:PORT/',
  'https://example.com:443@127.0.0.1:PORT/',
  'https://user:word@localhost:PORT/',
  'https://@127.0.0.1:PORT/',
  'https://:@127.0.0.1:PORT/',
  'https://[::1%25lo]:PORT/',
  'https://[fe80::1%eth0]:PORT/',
  'https://[::1]]:PORT/',
  'https://127.0.0.1 :PORT/',
  'https://127.0.0.1%00.example.com:PORT/',
  'https://256.0.0.1:PORT/',
  'https://127.0.0.0x1.:PORT/',
  'http://127.0.0.1:PORT/',
  'http://localhost:PORT/',
  'http://[::1]:PORT/',
  'http://0:PORT/',
  'ws://127.0.0.1:PORT/',
  'wss://127.0.0.1:PORT/',
  'ftp://127.0.0.1:PORT/',
  'file://127.0.0.1:PORT/',
  'unix:/tmp/socket',
  '//127.0.0.1:PORT/',
  '127.0.0.1:PORT',
];

/** The addresses that host names resolve to: every one of these names must be refused. */
const RECORDS: readonly (readonly string[])[] = [
  ...[['127.0.0.1'], ['127.8.8.8'], ['::1'], ['127.0.0.1', '::1'], ['0.0.0.0'], ['::']],
  ...[['10.0.0.1'], ['172.16.0.1'], ['192.168.1.1'], ['100.64.0.1'], ['169.254.169.254'], ['168.63.129.16']],
  ...[['::ffff:127.0.0.1'], ['64:ff9b::7f00:1'], ['64:ff9b:1::7f00:1'], ['2002:7f00:1::'], ['::7f00:1']],
  ...[['fd00:ec2::254'], ['fe80::1'], ['fec0::1'], ['ff02::1'], ['2001:db8::1'], ['2001:0:7f00:1::1']],
  // Mixed: a public address does not make the others acceptable, in any order.
  ...[
    ['8.8.8.8', '127.0.0.1'],
    ['127.0.0.1', '8.8.8.8'],
    ['8.8.8.8', '::1'],
    ['127.0.0.1', '2606:4700:4700::1111'],
  ],
  ...[['8.8.8.8', '8.8.4.4', '1.1.1.1', '9.9.9.9', '8.8.8.8', '8.8.4.4', '1.1.1.1', '9.9.9.9', '127.0.0.1']],
];

const NOT_PUBLIC =
  /^not sent: it(s address is not one of the public internet| names no host that every program reads alike)$/;

describe('an attempt to a non-public address', () => {
  let listener: CountedListener;
  let names: NameServer;
  let sender: TestSender;
  let tried = 0;
  before(async () => {
    // Listens on every address of the machine, of both families.
    listener = await startCountedListener();
    names = await startNameServer();
    sender = openTestSender({ allowsLoopback: false, nameServers: [names.address], connectTimeoutMs: 5000 });
  });
  after(async () => {
    await sender.close();
    await Promise.all([listener.stop(), names.stop()]);
    process.stdout.write(`    ${tried} forms of addresses tried, ${listener.connections()} connections\n`);
    assert.ok(tried >= 100, `only ${tried} forms`);
  });
  afterEach(() => {
    assert.equal(listener.connections(), 0);
  });

  async function assertNotSent(url: string, because: RegExp): Promise<void> {
    tried += 1;
    const { result } = await sender.try(url);
    assert.match(result.kind === 'no_answer' ? result.error : 'answered', because, url);
  }

  for (const [kind, hosts] of Object.entries(HOSTS)) {
    it(`makes no connection to this kind of address: ${kind}`, async () => {
      for (const host of hosts) await assertNotSent(`https://${host}:${listener.port}/hook`, NOT_PUBLIC);
    });
  }

  it('makes no connection to the addresses of this machine', async () => {
    for (const { address, family } of Object.values(networkInterfaces()).flatMap((known) => known ?? [])) {
      // A machine may have a public address.
      if (!/^(127|10|172|192)\.|^(::1$|f[cde])/.test(address)) continue;
      const host = family === 'IPv6' ? `[${address}]` : address;
      await assertNotSent(`https://${host}:${listener.port}/`, NOT_PUBLIC);
    }
  });

  it('makes no connection by a URL that hides the address', async () => {
    for (const url of WHOLE_URLS) await assertNotSent(url.replace('PORT', String(listener.port)), /^not sent: it/);
  });

  it('makes no connection by a host name that resolves to such an address', async () => {
    const because = /^not sent: the name leads to an address that is not of the public internet$/;
    for (const [index, addresses] of RECORDS.entries()) {
      names.setAnswer(`leads-${index}.example`, { addresses });
      await assertNotSent(`https://leads-${index}.example:${listener.port}/`, because);
      names.setAnswer(`alias-${index}.example`, {
        addresses,
        aliases: ['a.example.net', 'b.example.org', 'c.example.com'],
      });
      await assertNotSent(`https://alias-${index}.example:${listener.port}/`, because);
    }
  });
});

describe('the listener of these tests', () => {
  it('is reached by its addresses and its name when loopback is allowed', async () => {
    const listener = await startCountedListener();
    const sender = openTestSender();
    try {
      for (const [index, host] of ['127.0.0.1', '[::1]', 'localhost', '127.0.0.2'].entries()) {
        const { result } = await sender.try(`http://${host}:${listener.port}/`);
        assert.equal(result.kind === 'answered' && result.statusCode, 200, host);
        assert.equal(listener.connections(), index + 1);
      }
    } finally {
      await sender.close();
      await listener.stop();
    }
  });
});
