// The OpenAPI document of all routes.
import { z } from 'zod';
import { openApiDocument } from '../openapi.ts';
import { errorResponses, responseWith } from '../operation.ts';
import type { Route } from '../route.ts';

export function docsRoutes(routes: readonly Route[], publicUrl: string): Route[] {
  let document = '';
  const documentRoutes = [documentRoute(() => document)];
  // Generated once, after its own route, because it describes that route too.
  document = JSON.stringify(openApiDocument([...routes, ...documentRoutes], publicUrl));
  return documentRoutes;
}

function documentRoute(document: () => string): Route {
  return {
    method: 'get',
    path: '/v1/openapi.json',
    operation: {
      operationId: 'getOpenApi',
      tags: ['Service'],
      summary: 'This document',
      description: 'Generated from the schemas that validate requests.',
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
