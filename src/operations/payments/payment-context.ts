// The context of every payment operation besides its input, the same in the whole process.
import type { Database } from '../../db/platform/database.ts';
import type { Clocks } from '../../domain/clocks.ts';
import type { Coverage } from '../../domain/payments/operator-catalogue.ts';
import type { Environment } from '../../domain/event.ts';
import type { ReleaseAttestor } from '../../security/release-attestation.ts';

export type PaymentContext = {
  readonly db: Database;
  readonly environment: Environment;
  readonly clocks: Clocks;
  /** As of now: read it again for each payment. */
  readonly coverage: Coverage;
  readonly releases: ReleaseAttestor;
};
