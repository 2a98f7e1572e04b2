// A server that does the least that accepting a request takes: Koa, a JSON body, one INSERT with a unique key, and a response.
import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import Koa from 'koa';
import { Pool } from 'pg';
import { serve } from './serve.ts';

const [url = ''] = process.argv.slice(2);
const pool = new Pool({ connectionString: url, max: 16 });
await pool.query(
  `CREATE TABLE IF NOT EXISTS bench_requests (
     id uuid PRIMARY KEY, key text NOT NULL UNIQUE, body json NOT NULL, created_at timestamptz NOT NULL)`,
);

const app = new Koa();
app.use(async (ctx) => {
  const body = JSON.parse(await text(ctx.req)) as object;
  const id = randomUUID();
  await pool.query({
    name: 'bench_insert',
    text: 'INSERT INTO bench_requests (id, key, body, created_at) VALUES ($1, $2, $3, $4)',
    values: [id, ctx.get('Idempotency-Key'), JSON.stringify(body), new Date()],
  });
  ctx.status = 202;
  ctx.body = { id, ...body };
});

serve(app.callback());
