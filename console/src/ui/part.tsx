// A part of a page under its own heading.
import { Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';

export function Heading({ children }: { readonly children: ReactNode }) {
  return (
    <Title order={2} size="h4">
      {children}
    </Title>
  );
}

type PartProps = { readonly title: string; readonly gap?: 'xs' | 'md'; readonly children: ReactNode };

export function Part({ title, gap = 'md', children }: PartProps) {
  return (
    <Stack gap={gap}>
      <Heading>{title}</Heading>
      {children}
    </Stack>
  );
}
