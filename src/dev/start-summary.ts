// The results of the embedded start for its user: the settings in demo.env, and the summary on the terminal.
import { dirname } from 'node:path';
import { merchantSettings, type DemoMerchant } from './demo-merchant.ts';
import type { DemoProfile } from './demo-profiles.ts';
import { staffSettings, type DemoStaff } from './demo-staff.ts';
import type { Engines } from './embedded-engines.ts';
import { writePrivateFile } from '../engines/process/private-file.ts';

/** A demo merchant with the address that shows what its webhook receiver got. */
export type RunningMerchant = {
  readonly profile: DemoProfile;
  readonly demo: DemoMerchant;
  readonly inboxUrl: string;
};

export type StartSummary = {
  readonly file: string;
  readonly namespace: string;
  readonly engines: Engines;
  readonly merchants: readonly RunningMerchant[];
  readonly staff: DemoStaff;
  readonly baseUrl: string;
  readonly sandboxUrl: string;
};

/** Writes demo.env, which a shell can source. */
export function writeDemoSettings(summary: StartSummary): void {
  const { file, engines, merchants, staff, baseUrl, sandboxUrl } = summary;
  const values = {
    // The staff's commands find the server's settings by it.
    MALIPO_DATA_DIR: dirname(file),
    MALIPO_BASE_URL: baseUrl,
    MALIPO_SANDBOX_URL: sandboxUrl,
    MALIPO_TEMPORAL_ADDRESS: engines.temporalAddress,
    MALIPO_TEMPORAL_UI_URL: engines.temporalUiUrl ?? '',
    MALIPO_DATABASE_URL: engines.databaseUrls.applicationUrl,
    MALIPO_DATABASE_REPORT_URL: engines.databaseUrls.reportUrl,
    ...Object.fromEntries(merchants.map(settingsOf).flatMap(Object.entries)),
    ...staffSettings(staff),
  };
  // Values that a shell reads unchanged stay unquoted.
  const lines = Object.entries(values).map(
    ([name, value]) => `${name}=${/^[\w:/.,@%+-]*$/.test(value) ? value : `'${value}'`}\n`,
  );
  writePrivateFile(file, lines.join(''));
}

function settingsOf({ profile, demo, inboxUrl }: RunningMerchant): Record<string, string> {
  return merchantSettings(demo, profile.settingsPrefix, inboxUrl);
}

export function printSummary(summary: StartSummary): void {
  const { file, namespace, engines, merchants, staff, baseUrl, sandboxUrl } = summary;
  process.stdout.write(`
  Malipo runs.

  Console       ${baseUrl}/console
${merchants.map(merchantLines).join('')}    their codes . ${file}; node docs/examples/totp.mjs "$MALIPO_APPROVER_TOTP_SECRET"   (the others likewise)

  Documentation ${baseUrl}/docs   (five minutes to a first payment; the API reference is beside it)
  API           ${baseUrl}
  Temporal UI   ${engines.temporalUiUrl ?? 'that of your own cluster'}   (namespace ${namespace})
  Sandbox       ${sandboxUrl}/sandbox   (the last three digits of a phone decide how it ends)
                ${sandboxUrl}/sandbox/transactions   (every payment as it happens; one whose phone ends in 099 waits for you)
                ${sandboxUrl}/sandbox/handset   (the payer's phone, with a PIN)
  All of it     ${file}   (source it in a shell)

  The next collections:
${merchants.map((merchant) => curlLines(merchant, baseUrl)).join('')}
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

function merchantLines({ profile, demo, inboxUrl }: RunningMerchant): string {
  const { maker, approver } = demo.people;
  return `    ${profile.country}, ${profile.currency}: its settings begin with ${profile.settingsPrefix}
      maker     ${maker.email}   password ${maker.password}
      approver  ${approver.email}   password ${approver.password}
      test key  ${demo.apiKey}
      webhooks  ${inboxUrl}   what its receiver got, as JSON
`;
}

function curlLines({ profile, demo }: RunningMerchant, baseUrl: string): string {
  return `
    curl -sS ${baseUrl}/v1/api/collections \\
      -H 'Authorization: Bearer ${demo.apiKey}' \\
      -H "Idempotency-Key: $(date +%s)-$RANDOM" \\
      -d phone=${profile.payers[0].phone} -d amount=5000 -d reference=INV-1
`;
}
