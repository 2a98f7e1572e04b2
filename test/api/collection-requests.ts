// Requests that create a collection, in each format of a body.
import { call, type ApiResponse, type CallOptions } from '../support/api.ts';
import type { TestEnvironment } from '../support/test-environment.ts';

export const JSON_TYPE = 'application/json';
export const FORM_TYPE = 'application/x-www-form-urlencoded';
export const SOUND_FORM = 'phone=256772000100&amount=5000&reference=INV-1';

/** Returns what requests a collection with the key of the environment's merchant, unless the options name another one. */
export function collectionCreator(testEnv: TestEnvironment) {
  return (options: CallOptions): Promise<ApiResponse> =>
    call(testEnv.baseUrl, 'POST', '/v1/api/collections', { key: testEnv.merchant.key, ...options });
}
