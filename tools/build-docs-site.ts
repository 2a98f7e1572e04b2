// Builds the documentation's site to dist/docs-site: the guides, the reference page, and the files that they load.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import fastifyApiReference from '@scalar/fastify-api-reference';
import { readArguments } from '../src/arguments.mjs';
import { findProjectRoot } from '../src/project-root.ts';
import { DOWNLOADS, GUIDES, head, header, renderGuide } from './guides.ts';

readArguments({
  usage: 'usage: node --import=tsx/esm tools/build-docs-site.ts\n\nBuilds the pages of the documentation to dist/.',
});
const root = findProjectRoot();
const site = join(root, 'dist', 'docs-site');
const source = (file: string) => readFileSync(join(root, 'tools/docs-site', file), 'utf8');

const assets = {
  style: writeAsset('guide.css', source('guide.css')),
  script: writeAsset('guide.js', source('guide.js')),
};
for (const guide of GUIDES) writePage(guide.slug === '' ? 'index' : guide.slug, renderGuide(guide, root, assets));
for (const [path, file] of Object.entries(DOWNLOADS)) write(path, readFileSync(join(root, file), 'utf8'));
writePage('reference', referencePage());

function referencePage(): string {
  const scripts = [
    writeAsset('before-reference.js', source('before-reference.js')),
    writeAsset('scalar.js', scalarScript()),
    writeAsset('reference.js', source('reference.js')),
  ];
  const styles = [assets.style, writeAsset('reference.css', source('reference.css'))];
  // The server replaces it by the nonce of each response.
  const meta = '<meta property="csp-nonce" content="%STYLE_NONCE%">';
  return `${head({ title: 'API reference · Malipo', styles, scripts, meta })}
<body class="reference">
${header('reference')}
<noscript><main><h1>API reference</h1><p>This page needs JavaScript. Its content is <a href="/v1/openapi.json">the OpenAPI document</a>,
which other tools read too; the <a href="/docs">guides</a> need none.</p></main></noscript>
<div id="reference"></div>
</body>
</html>
`;
}

type PluginRoute = { readonly url: string; readonly handler: (request: unknown, reply: unknown) => string };

/**
 * Scalar's bundle for browsers, from the one package that has it without the 270 packages of its sources: a plugin for
 * Fastify. It is registered as in Fastify, and serves this one file.
 */
function scalarScript(): string {
  const routes: PluginRoute[] = [];
  const fastify = {
    route: (route: PluginRoute) => routes.push(route),
    hasPlugin: () => false,
    initialConfig: { routerOptions: { ignoreTrailingSlash: true } },
  };
  const register = fastifyApiReference as unknown as (fastify: unknown, options: unknown, done: () => void) => void;
  register(fastify, { routePrefix: '/docs', configuration: { url: '/v1/openapi.json' } }, () => undefined);
  const serve = routes.find(({ url }) => url.endsWith('.js'))?.handler;
  const reply = { header: () => reply, send: (text: string) => text };
  const script = serve?.({}, reply) ?? '';
  if (!script.includes('createApiReference')) throw new Error('the package of the reference has no script');
  // The source map is not served.
  return script.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
}

/** The name carries the digest of the content, so that browsers may keep the file. */
function writeAsset(name: string, text: string): string {
  const extension = extname(name);
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 10);
  const path = `assets/${name.slice(0, -extension.length)}-${digest}${extension}`;
  write(path, text);
  return `/docs/${path}`;
}

function writePage(name: string, html: string): void {
  write(`${name}.html`, html);
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(site, path)), { recursive: true });
  writeFileSync(join(site, path), text);
}
