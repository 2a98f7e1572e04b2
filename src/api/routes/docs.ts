// The OpenAPI document and a page to read it on, with every asset served by this process.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { z } from 'zod';
import type { ApiMiddleware } from '../context.ts';
import { openApiDocument } from '../openapi.ts';
import { errorResponses, responseWith } from '../operation.ts';
import type { Route } from '../route.ts';

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Malipo API reference</title>
<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/assets/start.js"></script>
</body>
</html>
`;

const START = `SwaggerUIBundle({ url: '/v1/openapi.json', dom_id: '#reference', deepLinking: true, validatorUrl: null });
`;

// Nothing may be loaded from, or sent to, another host.
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function docsRoutes(routes: readonly Route[], publicUrl: string): Route[] {
  let document = '';
  const own = [documentRoute(() => document), pageRoute(), ...assetRoutes()];
  // Generated once, after its own route, as it describes these routes too.
  document = JSON.stringify(openApiDocument([...routes, ...own], publicUrl));
  return own;
}

function documentRoute(document: () => string): Route {
  return {
    method: 'get',
    path: '/v1/openapi.json',
    operation: {
      operationId: 'getOpenApi',
      tags: ['Service'],
      summary: 'This document',
      security: [],
      responses: {
        '200': responseWith('OpenAPI 3.1.', z.looseObject({ openapi: z.string() })),
        ...errorResponses([]),
      },
    },
    pipeline: [
      (ctx) => {
        ctx.type = 'application/json';
        ctx.body = document();
      },
    ],
  };
}

function pageRoute(): Route {
  return textRoute({ path: '/docs', type: 'text/html', summary: 'The reference as a page', text: () => PAGE });
}

function assetRoutes(): Route[] {
  const require = createRequire(import.meta.url);
  const fromPackage = (file: string) => {
    const text = readFileSync(require.resolve(`swagger-ui-dist/${file}`), 'utf8');
    return () => text;
  };
  return [
    textRoute({
      path: '/docs/assets/swagger-ui.css',
      type: 'text/css',
      summary: 'Style of the page',
      text: fromPackage('swagger-ui.css'),
    }),
    textRoute({
      path: '/docs/assets/swagger-ui-bundle.js',
      type: 'text/javascript',
      summary: 'Script of the page',
      text: fromPackage('swagger-ui-bundle.js'),
    }),
    textRoute({
      path: '/docs/assets/start.js',
      type: 'text/javascript',
      summary: 'Starts the page',
      text: () => START,
    }),
  ];
}

function textRoute(options: { path: string; type: string; summary: string; text: () => string }): Route {
  const respond: ApiMiddleware = (ctx) => {
    ctx.set('Content-Security-Policy', PAGE_POLICY);
    ctx.set('Cache-Control', 'public, max-age=3600');
    ctx.type = options.type;
    ctx.body = options.text();
  };
  return {
    method: 'get',
    path: options.path,
    operation: {
      operationId: `get_${options.path.replace(/[^a-z]+/g, '_')}`,
      tags: ['Service'],
      summary: options.summary,
      security: [],
      responses: {
        '200': responseWith('As text.', z.string().meta({ example: options.text().slice(0, 40) }), options.type),
        ...errorResponses([]),
      },
    },
    pipeline: [respond],
  };
}
