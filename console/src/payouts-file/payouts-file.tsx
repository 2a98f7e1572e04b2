// Payouts from a file: chosen, checked row by row, created after the person has seen them; the outcome of each row.
import { Loader, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { countriesOf, OPERATORS_QUERY } from '../payments/operators.ts';
import { hasRole, useSession } from '../session/session.ts';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { Page } from '../ui/page.tsx';
import { useAct } from '../ui/use-act.ts';
import { checkRows, type CheckedRow } from './check-rows.ts';
import { ChooseFile } from './choose-file.tsx';
import { readFile } from './read-file.ts';
import { Results } from './results.tsx';
import { Review } from './review.tsx';

/** The file as it was read. The page keeps nothing of it when it is left. */
type Chosen = { readonly name: string; readonly bytes: Uint8Array };
type Checked = Chosen & { readonly paymentRun: string; readonly rows: readonly CheckedRow[] };

export function PayoutsFile() {
  const session = useSession();
  const [checked, setChecked] = useState<Checked | null>(null);
  const [making, setMaking] = useState<readonly CheckedRow[] | null>(null);
  const [progress, setProgress] = useState(0);
  const { currency } = session.merchant;
  const client = useQueryClient();
  const check = useAct(async (file: Chosen, paymentRun: string) => {
    setProgress(0);
    const countries = countriesOf(await client.query({ ...OPERATORS_QUERY, staleTime: 'static' }), currency);
    const rows = await checkRows(readFile(file.bytes, { currency, countries }), paymentRun, setProgress);
    setMaking(null);
    setChecked({ ...file, paymentRun, rows });
  });
  const isReviewing = checked !== null && making === null;
  const isMaking = making !== null;
  // The next step begins at its top, however far the previous one was scrolled.
  useEffect(() => window.scrollTo({ top: 0 }), [isReviewing, isMaking]);
  const choose = () => {
    check.forget();
    setChecked(null);
    setMaking(null);
  };
  if (!hasRole(session, 'maker')) return <Page title="Payouts from a file">Only makers make payouts.</Page>;
  return (
    <Page title="Payouts from a file">
      <Stack>
        <ErrorNotice error={check.error} />
        {check.isBusy && (
          <Text role="status">
            <Loader size="xs" aria-hidden /> Checking: {progress} rows so far
          </Text>
        )}
        {checked === null && !check.isBusy && <ChooseFile onFile={(file) => check.run(file, '')} currency={currency} />}
        {isReviewing && (
          <Review
            key={checked.paymentRun}
            {...checked}
            isBusy={check.isBusy}
            onPaymentRun={(paymentRun) => check.run(checked, paymentRun)}
            onChoose={choose}
            onMake={setMaking}
          />
        )}
        {checked !== null && making !== null && (
          <Results
            name={checked.name}
            rows={making}
            onAgain={() => check.run(checked, checked.paymentRun)}
            onChoose={choose}
          />
        )}
      </Stack>
    </Page>
  );
}
