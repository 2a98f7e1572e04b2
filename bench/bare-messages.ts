// The table of the bare counterpart of webhooks: one row for each message.
import type { Pool } from 'pg';

export type Message = { readonly id: string; readonly url: string; readonly body: string };

export async function createMessages(pool: Pool): Promise<void> {
  await pool.query(
    `CREATE TABLE IF NOT EXISTS bench_messages (
       id uuid PRIMARY KEY, url text NOT NULL, body text NOT NULL, state text NOT NULL DEFAULT 'pending',
       created_at timestamptz NOT NULL DEFAULT now())`,
  );
  await pool.query(
    `CREATE INDEX IF NOT EXISTS bench_messages_pending ON bench_messages (created_at) WHERE state = 'pending'`,
  );
  await pool.query('GRANT ALL ON bench_messages TO PUBLIC');
}

export async function insertMessage(pool: Pool, { id, url, body }: Message): Promise<void> {
  await pool.query({
    name: 'message_insert',
    text: 'INSERT INTO bench_messages (id, url, body) VALUES ($1, $2, $3)',
    values: [id, url, body],
  });
}

/** Inserts many in one statement, which are then all pending at one moment. */
export async function insertMessages(pool: Pool, count: number, { url, body }: Omit<Message, 'id'>): Promise<void> {
  await pool.query(
    `INSERT INTO bench_messages (id, url, body) SELECT gen_random_uuid(), $2, $3 FROM generate_series(1, $1)`,
    [count, url, body],
  );
}

export async function claimMessages(pool: Pool, limit: number): Promise<Message[]> {
  const { rows } = await pool.query<Message>({
    name: 'message_claim',
    text: `UPDATE bench_messages SET state = 'sending'
      WHERE id = ANY(ARRAY(
        SELECT id FROM bench_messages WHERE state = 'pending' ORDER BY created_at LIMIT $1 FOR UPDATE SKIP LOCKED))
      RETURNING id, url, body`,
    values: [limit],
  });
  return rows;
}

export async function markDelivered(pool: Pool, id: string): Promise<void> {
  const text = `UPDATE bench_messages SET state = 'delivered' WHERE id = $1`;
  await pool.query({ name: 'message_mark', text, values: [id] });
}
