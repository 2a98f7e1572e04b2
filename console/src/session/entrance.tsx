// The frame of the pages before the log-in.
import { Container, Paper, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

export function Entrance({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Container component="main" size={440} py={48} px="md">
      <Text ta="center" c="dimmed" fw={600}>
        Malipo
      </Text>
      <Title order={1} size="h2" ta="center" mb="lg">
        {title}
      </Title>
      <Paper withBorder p="lg" radius="md">
        {children}
      </Paper>
    </Container>
  );
}
