// The frame of a page: its title, what can be done on it, and its content.
import { Group, Stack, Title } from '@mantine/core';
import { useEffect, type ReactNode } from 'react';
import { MerchantText } from './merchant-text.tsx';

/** The title may name what somebody chose, such as a reference. */
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
