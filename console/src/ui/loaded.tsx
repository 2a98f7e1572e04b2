// What a query returned, or that it is still awaited, or why it failed.
import { Button, Skeleton, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { ErrorNotice } from './error-notice.tsx';

/** What is needed of a query: one of the library's, or a list of ours. */
type Query<Data> = {
  readonly data: Data | undefined;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly refetch: () => Promise<unknown>;
};

type LoadedProps<Data> = {
  readonly query: Query<Data>;
  readonly children: (data: Data) => ReactNode;
};

/** What is shown already stays while it is asked for again; an error is shown above it. */
export function Loaded<Data>({ query, children }: LoadedProps<Data>) {
  const { data, error, isPending, refetch } = query;
  if (isPending) {
    return (
      <Stack gap="xs" aria-busy aria-label="Loading" role="status">
        <Skeleton height={28} />
        <Skeleton height={28} />
        <Skeleton height={28} />
      </Stack>
    );
  }
  return (
    <Stack gap="md">
      {error !== null && (
        <>
          <ErrorNotice error={error} />
          <Button variant="default" onClick={() => void refetch()} w="fit-content">
            Try again
          </Button>
        </>
      )}
      {data !== undefined && children(data)}
    </Stack>
  );
}
