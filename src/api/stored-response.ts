// Sends an answer that is kept under its Idempotency-Key: the stored bytes, and whether they are a repetition.
import type { ApiMiddleware } from './context.ts';

type StoredOutcome = {
  readonly kind: string;
  readonly answer: { readonly status: number; readonly body: string };
};

export function sendStoredResponse(ctx: Parameters<ApiMiddleware>[0], { kind, answer }: StoredOutcome): void {
  if (kind === 'replayed') ctx.set('Idempotent-Replayed', 'true');
  ctx.status = answer.status;
  ctx.type = 'application/json';
  ctx.body = answer.body;
}
