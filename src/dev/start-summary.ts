// The results of the embedded start for its user: the settings in demo.env, and the summary on the terminal.
import { dirname } from 'node:path';
import { DEMO_PAYERS } from './demo-collection.ts';
import type { DemoMerchant } from './demo-merchant.ts';
import { peopleSettings } from './demo-people.ts';
import { staffSettings, type DemoStaff } from './demo-staff.ts';
import type { Engines } from './embedded-engines.ts';
import { writePrivateFile } from '../engines/process/private-file.ts';

export type StartSummary = {
  readonly file: string;
  readonly namespace: string;
  readonly engines: Engines;
  readonly demo: DemoMerchant;
  readonly staff: DemoStaff;
  readonly baseUrl: string;
  readonly sandboxUrl: string;
  readonly inboxUrl: string;
};

/** Writes demo.env, which a shell can source. */
export function writeDemoSettings(summary: StartSummary): void {
  const { file, engines, demo, staff, baseUrl, sandboxUrl, inboxUrl } = summary;
  const values = {
    // The staff's commands find the server's settings by it.
    MALIPO_DATA_DIR: dirname(file),
    MALIPO_BASE_URL: baseUrl,
    MALIPO_API_KEY: demo.apiKey,
    MALIPO_SANDBOX_URL: sandboxUrl,
    MALIPO_TEMPORAL_ADDRESS: engines.temporalAddress,
    MALIPO_TEMPORAL_UI_URL: engines.temporalUiUrl ?? '',
    MALIPO_DATABASE_URL: engines.databaseUrls.applicationUrl,
    MALIPO_DATABASE_REPORT_URL: engines.databaseUrls.reportUrl,
    MALIPO_WEBHOOK_SECRET: demo.webhookSecret,
    MALIPO_WEBHOOK_INBOX_URL: inboxUrl,
    ...peopleSettings(demo.people),
    ...staffSettings(staff),
  };
  // Values that a shell reads unchanged stay unquoted.
  const lines = Object.entries(values).map(
    ([name, value]) => `${name}=${/^[\w:/.,@%+-]*$/.test(value) ? value : `'${value}'`}\n`,
  );
  writePrivateFile(file, lines.join(''));
}

export function printSummary(summary: StartSummary): void {
  const { file, namespace, engines, demo, staff, baseUrl, sandboxUrl, inboxUrl } = summary;
  const { maker, approver } = demo.people;
  process.stdout.write(`
  Malipo runs.

  Console       ${baseUrl}/console
    maker       ${maker.email}   password ${maker.password}
    approver    ${approver.email}   password ${approver.password}
    their codes . ${file}; node docs/examples/totp.mjs "$MALIPO_APPROVER_TOTP_SECRET"   (MAKER likewise)

  Documentation ${baseUrl}/docs   (five minutes to a first payment; the API reference is beside it)
  API           ${baseUrl}
  Temporal UI   ${engines.temporalUiUrl ?? 'that of your own cluster'}   (namespace ${namespace})
  Sandbox       ${sandboxUrl}/sandbox   (the last three digits of a phone decide how it ends)
                ${sandboxUrl}/sandbox/transactions   (every payment as it happens; one whose phone ends in 099 waits for you)
                ${sandboxUrl}/sandbox/handset   (the payer's phone, with a PIN)
  Webhooks      ${inboxUrl}          what the demo receiver got, as JSON
  Test key      ${demo.apiKey}
  All of it     ${file}   (source it in a shell)

  The next collection:

    curl -sS ${baseUrl}/v1/api/collections \\
      -H 'Authorization: Bearer ${demo.apiKey}' \\
      -H "Idempotency-Key: $(date +%s)-$RANDOM" \\
      -d phone=${DEMO_PAYERS[0].phone} -d amount=5000 -d reference=INV-1

  Log in as the maker, or as the approver, whose second factor is in ${file} too:

    . ${file}
    curl -sS -c maker.jar ${baseUrl}/v1/console/session -H 'Origin: ${baseUrl}' -H 'Malipo-Console: 1' \\
      --data-urlencode "email=$MALIPO_MAKER_EMAIL" --data-urlencode "password=$MALIPO_MAKER_PASSWORD" \\
      -d "totp=$(node docs/examples/totp.mjs "$MALIPO_MAKER_TOTP_SECRET")"
    curl -sS -b maker.jar ${baseUrl}/v1/console/session

  The command line of who receives webhooks, here as that maker, with the approver where two are needed:

    set -a; . ${file}; set +a
    npm run -s malipo -- trigger payout.succeeded

  The commands of the service's staff: ${staff[0].name} proposes, ${staff[1].name} confirms; each logs in for each act (STAFF_1 and STAFF_2):

    npm run -s staff -- list
    printf '%s\\n' "$MALIPO_STAFF_1_PASSWORD" "$(node docs/examples/totp.mjs "$MALIPO_STAFF_1_TOTP_SECRET")" |
      npm run -s staff -- add --name fatma --as ${staff[0].name}

  Ctrl-C stops all of it; the next start finds its data.

`);
}
