// Exports a list as CSV, with the filters of the page.
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { ApiError } from '../api/api-error.ts';
import { answerOf } from '../api/client.ts';
import { save } from './download.ts';
import { ErrorNotice } from './error-notice.tsx';
import { useAct } from './use-act.ts';

/** The API client's answer for a file. */
type FileAnswer = Promise<{ data?: Blob; error?: unknown; response: Response }>;

/**
 * The button, and the error of the last export. The person gets the file once it is complete: an answer that breaks off
 * would otherwise be kept as if complete.
 */
export function useExport(ask: () => FileAnswer): { readonly button: ReactNode; readonly problem: ReactNode } {
  const act = useAct(async () => {
    const answer = ask();
    const file = await answerOf(answer).catch((error: unknown) => {
      if (error instanceof ApiError && error.detail.kind === 'no_answer') throw brokenOff();
      throw error;
    });
    save(nameIn((await answer).response), [file]);
  });
  return {
    button: (
      <Button variant="default" loading={act.isBusy} onClick={() => act.run()}>
        Export CSV
      </Button>
    ),
    problem: <ErrorNotice error={act.error} />,
  };
}

function brokenOff(): Error {
  return new Error('The export broke off before its end, so nothing of it was saved. Try again.');
}

function nameIn(response: Response): string {
  return /filename="([^"]+)"/.exec(response.headers.get('Content-Disposition') ?? '')?.[1] ?? 'export.csv';
}
