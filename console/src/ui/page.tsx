// The frame of a page: its title, its acts, its parts, and its loading state.
import { Button, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useEffect, type ReactNode } from 'react';
import { MerchantText } from './merchant-text.tsx';
import { ErrorNotice } from './error-notice.tsx';

/** The title may contain text that somebody chose, such as a reference. */
type PageProps = { readonly title: string; readonly actions?: ReactNode; readonly children: ReactNode };

export function Page({ title, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Malipo`;
  }, [title]);
  return (
    <Stack gap="md">
      <Group justify="space-between" align="center">
        <Title order={1} size="h2" miw={0}>
          <MerchantText text={title} />
        </Title>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}

export function Heading({ children }: { readonly children: ReactNode }) {
  return (
    <Title order={2} size="h4">
      {children}
    </Title>
  );
}

type PartProps = { readonly title: string; readonly gap?: 'xs' | 'md'; readonly children: ReactNode };

/** A part of a page under its own heading. */
export function Part({ title, gap = 'md', children }: PartProps) {
  return (
    <Stack gap={gap}>
      <Heading>{title}</Heading>
      {children}
    </Stack>
  );
}

/** The used part of a query: one of the library's, or a list of ours. */
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

/** Data stay visible while they are requested again; an error is shown above them. */
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

type ObjectPageProps<Data> = {
  readonly noun: string;
  /** The title before the reference, if it is not the noun alone. */
  readonly named?: string;
  readonly query: Query<Data>;
  readonly children: (object: Data) => ReactNode;
};

/** The page of one object, whose title names it by its reference. */
export function ObjectPage<Data extends { readonly reference: string }>(props: ObjectPageProps<Data>) {
  const { noun, named = noun, query, children } = props;
  return (
    <Page title={query.data === undefined ? noun : `${named} “${query.data.reference}”`}>
      <Loaded query={query}>{children}</Loaded>
    </Page>
  );
}

/** A line in small letters below the text that it explains. */
export function Hint({ children }: { readonly children: ReactNode }) {
  return (
    <Text size="xs" c="dimmed">
      {children}
    </Text>
  );
}
