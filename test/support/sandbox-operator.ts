// The requests of tests to the sandbox operator.
import assert from 'node:assert/strict';
import type { TestEnvironment } from './test-environment.ts';

export type SandboxTransaction = {
  readonly kind: 'collection' | 'payout' | 'refund';
  readonly operatorReference: string;
  readonly state: string;
  readonly requestsReceived: number;
  readonly promptsRaised: number;
  readonly transfersTaken: number;
  readonly callbacksSent: number;
  readonly callbackResults: readonly { readonly result: string }[];
};

export async function sandboxTransactions(testEnv: TestEnvironment, phone: string): Promise<SandboxTransaction[]> {
  const response = await fetch(`${testEnv.sandbox.url}/sandbox/transactions?phone=${phone}`);
  assert.equal(response.status, 200);
  return (await response.json()) as SandboxTransaction[];
}

/** How often the payer's phone was prompted. */
export async function promptsRaised(testEnv: TestEnvironment, phone: string): Promise<number> {
  const transactions = await sandboxTransactions(testEnv, phone);
  return transactions.reduce((sum, transaction) => sum + transaction.promptsRaised, 0);
}

/** Presses a button on one of the sandbox's decision pages; fails when it had no effect. */
export async function decideAtSandbox(
  testEnv: TestEnvironment,
  page: 'handset' | 'operator',
  fields: Readonly<Record<string, string>>,
): Promise<void> {
  const body = new URLSearchParams(fields);
  const response = await fetch(`${testEnv.sandbox.url}/sandbox/${page}`, { method: 'POST', body, redirect: 'manual' });
  assert.equal(response.status, 303, await response.text());
  assert.match(String(response.headers.get('location')), /[?&]answered=/);
}

/** Sets the sandbox's fault switches; every switch that is not named is off. */
export async function switchFaults(
  testEnv: TestEnvironment,
  faults: Partial<Record<'down' | 'throttled' | 'accountRefused' | 'floatLow', boolean>> & {
    latencyMs?: number;
    errorRate?: number;
  },
): Promise<void> {
  const response = await fetch(`${testEnv.sandbox.url}/sandbox/faults`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(faults),
  });
  assert.equal(response.status, 200, await response.text());
}
