// A line in small letters below what it says more about.
import { Text } from '@mantine/core';
import type { ReactNode } from 'react';

export function Hint({ children }: { readonly children: ReactNode }) {
  return (
    <Text size="xs" c="dimmed">
      {children}
    </Text>
  );
}
