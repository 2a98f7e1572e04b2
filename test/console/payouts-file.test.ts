// Files of payouts as people save them: which are read, how, and what is named as wrong with them.
import assert from 'node:assert/strict';
import { readFile, UnreadableFile, type FileRow } from '../../console/src/payouts-file/read-file.ts';
import { valuesOf } from '../support/values-of.ts';

const HEADER = 'phone,amount,reference,description';
const GOOD = '256772000100,12500,SAL-1,Salary';

const COUNTRIES: Readonly<Record<string, readonly string[]>> = { UGX: ['UG'], XOF: ['CI', 'BJ'] };
const contextOf = (currency: string) => ({ currency, countries: COUNTRIES[currency] ?? [] });

function read(text: string, currency = 'UGX'): readonly FileRow[] {
  return readFile(new TextEncoder().encode(text), contextOf(currency));
}

/** By row: its number, and its problems as `column: message`. */
function problemsOf(text: string, currency?: string): string[] {
  return read(text, currency).flatMap(({ number, problems }) =>
    problems.map(({ column, message }) => `${number} ${column ?? 'row'}: ${message}`),
  );
}

function assertRefused(text: string | Uint8Array, message: RegExp): void {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  assert.throws(
    () => readFile(bytes, contextOf('UGX')),
    (error) => error instanceof UnreadableFile && message.test(error.message),
  );
}

describe('a file of payouts', () => {
  it('is read the same with commas or semicolons, any line ends, a byte order mark, quotes and blank lines', () => {
    const expected = [
      { phone: '256772000100', amount: 12500, reference: 'SAL-1', description: 'Rice, 2 bags' },
      { phone: '256772000101', amount: 900, reference: 'SAL "2"' },
    ];
    const rows = ['256772000100,12500,SAL-1,"Rice, 2 bags"', '+256 772 000 101, 900 ,"SAL ""2""",'];
    const withCommas = `${HEADER}\n\n${rows.join('\n')}`;
    const withSemicolons = `\uFEFFPhone;Amount;Reference;Description\r\n\r\n256772000100;12500;SAL-1;Rice, 2 bags\r\n+256 772 000 101;900;"SAL ""2""";\r\n;;;\r\n`;
    for (const text of [withCommas, withSemicolons]) {
      const found = read(text);
      assert.deepEqual(valuesOf(found, 'payout'), expected);
      // As the spreadsheet counts, so that people find them.
      assert.deepEqual(
        found.map(({ number, problems }) => [number, problems.length]),
        [
          [3, 0],
          [4, 0],
        ],
      );
    }
  });

  it('may have its columns in any order, and no description', () => {
    assert.deepEqual(read('reference,phone,amount\nSAL-1,256772000100,5')[0]!.payout, {
      phone: '256772000100',
      amount: 5,
      reference: 'SAL-1',
    });
  });

  it('is refused as a whole when its columns are not known, or nothing can be read', () => {
    assertRefused(`${GOOD}\n`, /^The first row must name the columns\. Missing: phone, amount, reference\.$/);
    assertRefused('phone,amount,reference,bank\n', /These columns are unknown: bank/);
    assertRefused('phone,amount,reference,phone\n', /names a column twice/);
    assertRefused(`${HEADER}\n`, /no rows/);
    assertRefused(`${HEADER}\n256772000100,5,"SAL-1`, /Row \d+ cannot be read/);
    assertRefused(new Uint8Array([0xff, 0xfe, 0x70, 0x00]), /UTF-8/);
    assertRefused(new Uint8Array(1024 * 1024 + 1), /1 MB/);
    const rows = Array.from({ length: 1001 }, (_, index) => `256772000100,5,SAL-${index}`);
    assertRefused(`phone,amount,reference\n${rows.join('\n')}`, /1001 rows/);
    assert.equal(read(`phone,amount,reference\n${rows.slice(1).join('\n')}`).length, 1000);
  });

  it('takes no amount whose separators could mean two things, and no fraction that the currency has not', () => {
    const wrong = [
      '12.500',
      '"12,50"',
      '"1500,50"',
      '"1.500,50"',
      '1.5',
      '0',
      '-5',
      '5e3',
      'five',
      '99999999999999999',
    ];
    for (const amount of wrong) {
      const [row] = read(`${HEADER}\n256772000100,${amount},SAL-1,`);
      assert.deepEqual(
        [row!.payout.amount, row!.problems.map(({ column }) => column)],
        [undefined, ['amount']],
        amount,
      );
    }
    for (const [amount, minor] of [
      ['12500', 1_250_000],
      ['"12,500"', 1_250_000],
      ['"12,500.25"', 1_250_025],
      ['12 500', 1_250_000],
      ['12500.5', 1_250_050],
      ['0.05', 5],
    ] as const) {
      assert.equal(read(`${HEADER}\n254772000100,${amount},SAL-1,`, 'KES')[0]!.payout.amount, minor);
    }
    assert.equal(problemsOf(`${HEADER}\n254772000100,12.500,SAL-1,`, 'KES').length, 1);
  });

  it('takes no amount that a comma may have cut in two', () => {
    const wide = `${HEADER},operator`;
    const narrow = 'phone,amount,reference';
    for (const [header, row, readings] of [
      [wide, '233241234567,12,500,INV-1', '12, with 500 in the next column, or 12,500'],
      [narrow, '233241234567,12,500', '12, with 500 in the next column, or 12,500'],
      [HEADER, '233241234567,1,500,000', '1, with 500 in the next column, or 1,500,000'],
      [wide, '233241234567, 999 , 999 ,INV-1,', '999, with 999 in the next column, or 999,999'],
      [wide, '233241234567,12,500.50,INV-1', '12, with 500.50 in the next column, or 12,500.50'],
      [wide, '233241234567,1,500,000.50,INV-1', '1, with 500 in the next column, or 1,500,000.50'],
      ['amount,phone,reference', '12,500,233241234567', '12, with 500 in the next column, or 12,500'],
    ] as const) {
      const [found] = read(`${header}\n${row}`, 'GHS');
      assert.equal(found!.payout.amount, undefined, row);
      const problem = found!.problems.find(({ column }) => column === 'amount');
      assert.ok(problem?.message.startsWith(`Is it ${readings}?`), problem?.message);
    }
    for (const [header, row, amount] of [
      [narrow, '233241234567,"12,500",INV-1', 1_250_000],
      [narrow, '233241234567,1200,500', 120_000],
      [narrow, '233241234567,12,5000', 1200],
      [narrow, '233241234567,12.50,500', 1250],
      // Nothing can stand behind the last column, and semicolons are not in numbers.
      ['reference,phone,amount', '500,233241234567,12', 1200],
      ['phone;amount;reference', '233241234567;12;500', 1200],
    ] as const) {
      const [found] = read(`${header}\n${row}`, 'GHS');
      assert.deepEqual([found!.payout.amount, found!.problems], [amount, []], row);
    }
  });

  it('asks for the meaning of one comma if semicolons separate the columns', () => {
    for (const amount of ['12,500', '1,000', '"999,999"']) {
      const text = `phone;amount;reference\n256772000100;${amount};SAL-1`;
      for (const currency of ['UGX', 'KES']) {
        assert.equal(read(text, currency)[0]!.payout.amount, undefined, amount);
        assert.match(problemsOf(text, currency).join(), /2 amount: This can be read as [\d.]+ or as [\d,]+\./, amount);
      }
    }
    for (const [amount, minor] of [
      ['12500', 1_250_000],
      ['1,500,000', 150_000_000],
      ['12,500.25', 1_250_025],
    ] as const) {
      const text = `phone;amount;reference\n254772000100;${amount};SAL-1`;
      assert.equal(read(text, 'KES')[0]!.payout.amount, minor, amount);
    }
  });

  it('is refused with the reason: empty, no CSV, separated by tabs, or in another encoding', () => {
    for (const text of ['', '\n', ' \r\n\t', '\uFEFF']) assertRefused(text, /^The file is empty\.$/);
    for (const text of [HEADER, GOOD].map((line) => line.replaceAll(',', '\t'))) {
      assertRefused(`${text}\n${GOOD.replaceAll(',', '\t')}`, /separated by tabs/);
    }
    for (const beginning of [
      [0x50, 0x4b, 0x03, 0x04, 0x14, 0x00],
      [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1],
    ]) {
      assertRefused(new Uint8Array(beginning), /This is a spreadsheet, whatever its name/);
      assertRefused(new Uint8Array([...beginning, ...new Uint8Array(2 * 1024 * 1024)]), /This is a spreadsheet/);
    }
    const utf16 = Array.from(HEADER).flatMap((character) => [character.charCodeAt(0), 0]);
    assertRefused(new Uint8Array(utf16), /UTF-8/);
  });

  it('is read with line ends of several kinds in one file', () => {
    const expected = ['SAL-1', 'SAL-2', 'SAL-3'];
    const rows = expected.map((reference, index) => `25677200010${index},5,${reference},"a\r\nb"`);
    for (const [afterHeader, between] of [
      ['\r\n', '\n'],
      ['\n', '\r\n'],
      ['\r', '\n'],
      ['\r\n', '\r'],
      ['\r\n\n', '\r\n'],
    ] as const) {
      const found = read(`${HEADER}${afterHeader}${rows.join(between)}`);
      assert.deepEqual(
        found.map(({ payout, problems }) => [payout.reference, problems]),
        expected.map((reference) => [reference, []]),
        JSON.stringify([afterHeader, between]),
      );
    }
  });

  it('may have columns without a name, as long as nothing is in them', () => {
    const [row] = read('phone,amount,reference,,\n256772000100,5,SAL-1,,\n');
    assert.deepEqual(row, {
      number: 2,
      cells: { phone: '256772000100', amount: '5', reference: 'SAL-1', description: '', payee_name: '', operator: '' },
      payout: { phone: '256772000100', amount: 5, reference: 'SAL-1' },
      problems: [],
    });
    assert.equal(read('phone;;amount;reference\n256772000100;;5;SAL-1')[0]!.problems.length, 0);
    for (const line of ['256772000100,5,SAL-1,x,', '256772000100,5,SAL-1,,,x'])
      assert.match(
        problemsOf(`phone,amount,reference,,\n${line}`)[0]!,
        /^2 row: It has more cells than the header names/,
      );
    assertRefused('phone,,reference\n', /Missing: amount/);
  });

  it('accepts pasted phone numbers, and asks if one is valid in two countries', () => {
    for (const phone of [
      '0772 000 100',
      '772000100',
      '+256 (0)772 000 100',
      '\u202a+256772000100\u202c',
      '256–772–000100',
    ])
      assert.equal(read(`${HEADER}\n${phone},5,SAL-1,`)[0]!.payout.phone, '256772000100', phone);
    const header = 'phone,amount,reference';
    assert.match(
      problemsOf(`${header}\n01 97 12 34 56,500,SAL-1`, 'XOF')[0]!,
      /^2 phone: Is it 2250197123456 \(Côte d’Ivoire\) or 2290197123456 \(Benin\)\?/,
    );
    assert.match(
      problemsOf(`${header}\n22997123456,500,SAL-1`, 'XOF')[0]!,
      /^2 phone: A mobile number of Benin has 10/,
    );
    assert.match(problemsOf(`${header}\n2.56772E+11,500,SAL-1`)[0]!, /^2 phone: The spreadsheet has shortened/);
    // However it is spelled, it is the same row.
    const lines = [header, '0772 000 100,5,SAL-1', '256772000100,5,SAL-1'];
    assert.deepEqual(problemsOf(lines.join('\n')), ['3 row: It is the same as row 2.']);
  });

  it('may name the operator of a row', () => {
    const rows = read('phone,amount,reference,operator\n256752000100,5,SAL-1,MTN-MoMo\n256772000100,5,SAL-2,');
    assert.deepEqual(
      rows.map(({ payout }) => payout.operator),
      ['mtn-momo', undefined],
    );
  });

  it('names every problem with its row and column', () => {
    const lines = [
      HEADER,
      GOOD,
      '2.56772E+11,1,=1+1,@name',
      '256772000101,12,500,SAL-3,Salary',
      '256772000102,5,SAL-4,x',
    ];
    assert.deepEqual(
      problemsOf(lines.join('\n')).map((line) => line.split(/[:.]/)[0]),
      ['3 phone', '3 reference', '3 description', '4 row', '4 amount'],
    );
  });

  it('names a row that is the same as one above it, and all that share a reference', () => {
    const lines = [HEADER, GOOD, GOOD, '256772000101,5,SAL-2,', '256772000102,5,SAL-2,', '256772000103,5,SAL-3,'];
    assert.deepEqual(problemsOf(lines.join('\n')), [
      '3 row: It is the same as row 2.',
      '4 reference: Row 5 has the same reference.',
      '5 reference: Row 4 has the same reference.',
    ]);
  });
});
