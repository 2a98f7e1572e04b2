// An error in the words of the API, with the request id for the people who help.
import { Alert, Text } from '@mantine/core';
import { ApiError } from '../api/api-error.ts';
import { StepUpClosed } from '../session/step-up-closed.ts';
import { CopyText } from './copy-text.tsx';

export function ErrorNotice({ error }: { readonly error: unknown }) {
  // A person who closed the dialog knows that nothing was done.
  if (error === null || error === undefined || error instanceof StepUpClosed) return null;
  const requestId = error instanceof ApiError ? error.requestId : null;
  return (
    <Alert color="red" role="alert" title={messageOf(error)}>
      {requestId !== null && (
        <Text size="sm" component="span">
          Request <CopyText text={requestId} what="request id" />
        </Text>
      )}
    </Alert>
  );
}

function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  // The browser's own error for a passkey that the person did not give.
  if (error instanceof Error && error.name === 'NotAllowedError') return 'The browser was given no passkey.';
  return error instanceof Error ? error.message : String(error);
}
