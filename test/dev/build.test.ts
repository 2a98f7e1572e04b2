// The build: complete when something is missing or out of date, and nothing otherwise.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findProjectRoot } from '../../src/project-root.ts';
import { gunzipSync } from 'node:zlib';
import { throwaway } from '../engines/throwaway.ts';

/** Stands for the one that reads our routes: the type of a price is that of the source. */
const GENERATE_TYPES = `import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
const isText = readFileSync('src/price.ts', 'utf8').includes('Price = string');
mkdirSync('console/generated', { recursive: true });
writeFileSync('console/generated/api.ts', 'export type Price = ' + (isText ? 'string' : 'number') + ';');
`;

const BUILD_DOCS = `import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
mkdirSync('dist/docs-site', { recursive: true });
writeFileSync('dist/docs-site/index.html', readFileSync('docs/guides/index.md', 'utf8').repeat(100));
`;

const MAIN = `import type { Price } from '../generated/api.ts';
const price: Price = 5;
document.title = String(price);
`;

describe('the build', () => {
  const { folder, cleanUp } = throwaway();
  afterEach(cleanUp);

  let project: string;
  beforeEach(() => {
    project = folder();
    const root = findProjectRoot();
    for (const file of [
      'package.json',
      'package-lock.json',
      'tsconfig.json',
      'tsconfig.build.json',
      'tools/build.mjs',
      'tools/console-config.mjs',
      'src/arguments.mjs',
      'src/arguments.d.mts',
      'console/tsconfig.json',
    ]) {
      cpSync(join(root, file), join(project, file));
    }
    symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
    write('src/price.ts', 'export const price: number = 5;\n');
    write('src/schema.sql', 'SELECT 1;\n');
    write('activities/nothing.ts', 'export const nothing = null;\n');
    write('workflows/trace-interceptor.ts', 'export const interceptors = () => ({});\n');
    write(
      'workflows/index.ts',
      "import { price } from '../src/price.ts';\nexport async function tell(): Promise<number> {\n  return price;\n}\n",
    );
  });

  beforeEach(() => {
    write('tools/generate-console-types.ts', GENERATE_TYPES);
    write('console/index.html', '<!doctype html><body><script type="module" src="/src/main.ts"></script></body>');
    write('console/src/main.ts', MAIN);
    write('console/src/environment.d.ts', '');
    // Stand for the pages of the documentation.
    write('tools/build-docs-site.ts', BUILD_DOCS);
    write('tools/guides.ts', '');
    write('docs/guides/index.md', '# First');
    write('docs/examples/receiver.mjs', '');
    write('docs/webhook-test-vectors.json', '{}');
    write('tools/docs-site/guide.css', '');
    write('console/public/icon.svg', `<svg>${'<g/>'.repeat(200)}</svg>`);
  });

  function write(file: string, text: string): void {
    mkdirSync(dirname(join(project, file)), { recursive: true });
    writeFileSync(join(project, file), text);
  }

  function build(...parts: string[]): { status: number | null; output: string } {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['tools/build.mjs', ...parts], {
      cwd: project,
      encoding: 'utf8',
    });
    return { status, output: stdout + stderr };
  }

  const read = (file: string): string => readFileSync(join(project, 'dist', file), 'utf8');

  it('compiles, copies assets and bundles the workflows, and does nothing the second time', () => {
    const first = build();
    assert.equal(first.status, 0, first.output);
    assert.match(read('src/price.js'), /price = 5/);
    assert.match(read('workflows/index.js'), /'\.\.\/src\/price\.js'/);
    assert.equal(read('src/schema.sql'), 'SELECT 1;\n');
    assert.match(read('workflow-bundle.js'), /tell/);
    assert.match(read('docs-site/index.html'), /^# First/);
    assert.equal(
      gunzipSync(readFileSync(join(project, 'dist/docs-site/index.html.gz'))).toString(),
      read('docs-site/index.html'),
    );
    const builtAtMs = statSync(join(project, 'dist', 'workflow-bundle.js')).mtimeMs;
    assert.deepEqual(build(), { status: 0, output: '' });
    assert.equal(statSync(join(project, 'dist', 'workflow-bundle.js')).mtimeMs, builtAtMs);
  });

  it('builds the console, compressed, with the current types of the API', () => {
    assert.equal(build().status, 0);
    assert.match(read('console-app/index.html'), /src="\/console\/assets\/index-\S+\.js"/);
    assert.equal(gunzipSync(readFileSync(join(project, 'dist/console-app/icon.svg.gz'))).toString().length, 811);
    write('src/price.ts', 'export const price: number = 5;\nexport type Price = string;\n');
    const { status, output } = build();
    assert.equal(status, 1);
    assert.match(output, /console\/src\/main\.ts.*not assignable/);
  });

  it('runs again when a source was changed or removed', () => {
    build();
    write('src/price.ts', 'export const price: number = 6;\n');
    assert.match(build().output, /^built in/);
    assert.match(read('workflow-bundle.js'), /price = 6/);
    rmSync(join(project, 'src', 'schema.sql'));
    assert.match(build().output, /^built in/);
    assert.equal(existsSync(join(project, 'dist', 'src', 'schema.sql')), false);
  });

  it('builds again only the parts whose inputs have changed', () => {
    const outputs = { server: 'src/price.js', console: 'console-app/index.html', docs: 'docs-site/index.html' };
    const change = (file: string, text: string): string[] => {
      const timeOf = (output: string): number => statSync(join(project, 'dist', output)).mtimeMs;
      const before = Object.values(outputs).map(timeOf);
      write(file, text);
      const { status, output } = build();
      assert.equal(status, 0, output);
      return Object.keys(outputs).filter((_, index) => timeOf(Object.values(outputs)[index]!) !== before[index]);
    };
    build();
    assert.deepEqual(change('src/price.ts', 'export const price: number = 6;\n'), ['server']);
    assert.deepEqual(change('docs/guides/index.md', '# Second'), ['docs']);
    assert.deepEqual(change('console/src/environment.d.ts', '// changed'), ['console']);
    rmSync(join(project, 'dist', 'console-app'), { recursive: true });
    build();
    assert.ok(existsSync(join(project, 'dist', outputs.console)));
  });

  it('builds only the named parts', () => {
    const { status, output } = build('server');
    assert.equal(status, 0, output);
    assert.ok(existsSync(join(project, 'dist', 'workflow-bundle.js')));
    assert.equal(existsSync(join(project, 'dist', 'docs-site')), false);
  });

  it('fails on an error in the code until it is corrected', () => {
    write('src/price.ts', "export const price: number = 'five';\n");
    for (let tries = 1; tries <= 2; tries++) {
      const { status, output } = build();
      assert.equal(status, 1);
      assert.match(output, /src\/price\.ts.*not assignable/);
    }
    write('src/price.ts', 'export const price: number = 5;\n');
    assert.equal(build().status, 0);
  });
});
