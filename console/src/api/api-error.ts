// Why a request failed: the error of the API, or no answer, so that the request may have been carried out.

type Refusal = {
  readonly kind: 'refused';
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
  readonly byParam: Readonly<Record<string, string>>;
};

export class ApiError extends Error {
  readonly detail: Refusal | { readonly kind: 'no_answer' };

  constructor(detail: Refusal | { readonly kind: 'no_answer' }) {
    super(
      detail.kind === 'refused'
        ? detail.message
        : 'Malipo did not answer. Your request may still have been carried out: check before you repeat it.',
    );
    this.detail = detail;
  }

  get status(): number | null {
    return this.detail.kind === 'refused' ? this.detail.status : null;
  }

  get requestId(): string | null {
    return this.detail.kind === 'refused' ? this.detail.requestId : null;
  }

  /** False if it is unknown whether the request was carried out. Repeated with the same key, it happens once. */
  get isDecided(): boolean {
    return (
      this.detail.kind === 'refused' && this.detail.status < 500 && this.detail.code !== 'idempotency_key_in_flight'
    );
  }

  /** The fault of each field of the form, by the name of the field. */
  get byParam(): Readonly<Record<string, string>> {
    return this.detail.kind === 'refused' ? this.detail.byParam : {};
  }
}

type ErrorBody = {
  readonly error?: {
    readonly code?: string;
    readonly message?: string;
    readonly request_id?: string;
    readonly errors?: readonly { readonly param: string; readonly message: string }[];
  };
};

/** The error of an unsuccessful response. A proxy's own page has no error of ours, so only its status is known. */
export function readApiError(response: Response, body: unknown): ApiError {
  const { error } = (typeof body === 'object' && body !== null ? body : {}) as ErrorBody;
  const retryAfter = Number(response.headers.get('Retry-After') ?? Number.NaN);
  return new ApiError({
    kind: 'refused',
    status: response.status,
    code: error?.code ?? 'unknown',
    message: error?.message ?? `The server answered with status ${response.status} and no reason.`,
    requestId: error?.request_id ?? response.headers.get('Malipo-Request-Id'),
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : null,
    byParam: Object.fromEntries((error?.errors ?? []).map(({ param, message }) => [param, message])),
  });
}
