// Tests the guard that restricts webhooks to the public internet, for every notation of an address.
import assert from 'node:assert/strict';
import { createAddressGuard } from '../../src/webhooks/address-guard.ts';
import { isPublicAddress } from '../../src/webhooks/public-addresses.ts';

const NOT_PUBLIC: Readonly<Record<string, readonly string[]>> = {
  'this host': ['0.0.0.0', '0.1.2.3', '::'],
  loopback: ['127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1', '0000::0001'],
  private: ['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
  'unique local': ['fc00::1', 'fd12:3456::1', 'fdff:ffff::1'],
  'link-local': ['169.254.0.1', '169.254.255.255', 'fe80::1', 'fe80::1%eth0', 'febf::1', 'fec0::1'],
  'cloud metadata': ['169.254.169.254', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254', 'fe80::a9fe:a9fe'],
  'a cloud’s own, whose number looks public': ['168.63.129.16'],
  'carrier-grade NAT': ['100.64.0.1', '100.127.255.255'],
  'IETF protocols': ['192.0.0.1', '192.0.0.170', '2001:1::1', '2001:3::1', '2001:30::1'],
  documentation: ['192.0.2.1', '198.51.100.7', '203.0.113.9', '2001:db8::1', '3fff::1', '3fff:fff::1'],
  benchmarking: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
  multicast: ['224.0.0.1', '239.255.255.250', 'ff02::1', 'ff0e::1'],
  reserved: ['240.0.0.1', '255.255.255.255', '1000::1', '4000::1', '5f00::1', '100::1', '100:0:0:1::1'],
  'IPv4 in IPv6': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8', '::127.0.0.1', '::10.0.0.1'],
  'IPv4 translated': ['::ffff:0:127.0.0.1'],
  NAT64: ['64:ff9b::127.0.0.1', '64:ff9b::a00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::a00:1'],
  '6to4': ['2002:7f00:1::', '2002:a00:1::1', '2002:a9fe:a9fe::1', '192.88.99.1'],
  Teredo: ['2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ORCHID: ['2001:10::1', '2001:20::1'],
  'special service': ['192.31.196.1', '192.52.193.1', '192.175.48.1', '2620:4f:8000::1', '2001:4:112::1'],
  'incomplete or invalid': [
    '',
    'nonsense',
    '256.1.1.1',
    '1.2.3.4.5',
    ':::1',
    '8.8',
    '134744072',
    '0x8.8.8.8',
    '2606:4700::1%eth0',
  ],
};

const PUBLIC = [
  ...['8.8.8.8', '1.1.1.1', '9.255.255.255', '11.0.0.1', '100.63.255.255', '100.128.0.1', '169.253.1.1'],
  ...['172.15.255.255', '172.32.0.1', '192.169.0.1', '198.17.255.255', '198.20.0.1', '223.255.255.255'],
  ...['168.63.129.15', '168.63.129.17', '192.0.1.1', '2001:200::1', '2003::1', '3ffe::1', '3fff:1000::1'],
  ...['2606:4700:4700::1111', '2a00:1450:4001::1', '2001:4860:4860::8888', '2400:cb00::1'],
];

describe('the check for public addresses', () => {
  for (const [kind, addresses] of Object.entries(NOT_PUBLIC)) {
    it(`rejects this kind of address: ${kind}`, () => {
      for (const address of addresses) assert.equal(isPublicAddress(address), false, address);
    });
  }

  it('accepts addresses just outside those ranges, and other public ones', () => {
    for (const address of PUBLIC) assert.equal(isPublicAddress(address), true, address);
  });
});

const NOT_PUBLIC_URLS = [
  ...['https://127.0.0.1/', 'https://127.1/', 'https://2130706433/', 'https://0x7f000001/', 'https://0x7f.1/'],
  ...[
    'https://0177.0.0.1/',
    'https://0177.1/',
    'https://127.0.0.1./',
    'https://127。0。0。1/',
    'https://１２７.0.0.1/',
  ],
  ...[
    'https://%31%32%37.0.0.1/',
    'https://0/',
    'https://0x0/',
    'https://[::]/',
    'https://[::1]/',
    'https://[0:0::0:1]/',
  ],
  ...[
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[2002:7f00:1::]/',
  ],
  ...['https://169.254.169.254/latest', 'https://0xa9fea9fe/', 'https://2852039166/', 'https://⑯⑨.254.169.254/'],
  ...['https://[::ffff:a9fe:a9fe]/', 'https://10.0.0.1/', 'https://192.168.1.1:8443/', 'https://012.1.2.3/'],
];
const WRONG_URLS = [
  ...['http://example.com/', 'ftp://example.com/', 'file:///etc/passwd', 'javascript:alert(1)', 'unix:/tmp/socket'],
  ...['//example.com/', 'example.com', 'https://', 'https://exa mple.com/', 'https://[fe80::1%25eth0]/', ''],
  ...['https:///hooks', 'https:example.com', 'https:\\\\example.com', `https://${'a'.repeat(64)}.example/`],
  ...[`https://${'a.'.repeat(127)}example/`, 'https://example..com/', 'https://.example.com/', 'https://./'],
  ...['https://user:word@example.com/', 'https://user@example.com/', 'https://:word@example.com/'],
];

const REFUSED = /^it(s address is not one of the public internet| names no host that every program reads alike)$/;

describe('a URL for webhooks', () => {
  const guard = createAddressGuard({ allowsLoopback: false });
  const openGuard = createAddressGuard({ allowsLoopback: true });

  it('is refused for a non-public address in every notation', () => {
    for (const url of NOT_PUBLIC_URLS) {
      assert.match(guard.refuseUrl(url) ?? '', REFUSED, url);
    }
  });

  it('is refused for every name of the machine itself', () => {
    for (const host of ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ', 'local%68ost']) {
      assert.match(guard.refuseUrl(`https://${host}/`) ?? '', REFUSED, host);
    }
  });

  it('is refused when nothing can listen on its port, and when it is too long to store', () => {
    assert.equal(guard.refuseUrl('https://example.com:0/'), 'it names port 0');
    assert.equal(guard.refuseUrl('https://example.com:65536/'), 'it is not an absolute URL');
    const longest = `https://example.com/${'x'.repeat(2028)}`;
    assert.equal(guard.refuseUrl(longest), null);
    assert.equal(guard.refuseUrl(`${longest}x`), 'it is longer than 2048 characters');
  });

  it('is refused unless it is absolute, https and without credentials', () => {
    for (const url of WRONG_URLS) assert.notEqual(guard.refuseUrl(url), null, url);
    for (const url of WRONG_URLS) assert.notEqual(openGuard.refuseUrl(url), null, url);
  });

  it('is accepted when it is https to a host name or a public address', () => {
    for (const url of [
      ...[
        'HTTPS://Example.com/',
        'https://example.com/hooks?x=1',
        'https://8.8.8.8/',
        'https://[2606:4700:4700::1111]:8443/',
      ],
      ...[
        'https://example.com:25/',
        'https://example.com:65535/',
        'https://mylocalhost/',
        'https://localhost.example/',
      ],
    ]) {
      assert.equal(guard.refuseUrl(url), null, url);
    }
  });

  it('may be http to loopback when that is allowed, and to nothing else', () => {
    for (const url of ['http://127.0.0.1:80/', 'http://[::1]/', 'http://localhost:1234/', 'https://127.0.0.1/']) {
      assert.equal(openGuard.refuseUrl(url), null, url);
    }
    for (const url of ['http://8.8.8.8/', 'http://10.0.0.1/', 'https://10.0.0.1/', 'http://[::ffff:127.0.0.1]/']) {
      assert.notEqual(openGuard.refuseUrl(url), null, url);
    }
  });
});
