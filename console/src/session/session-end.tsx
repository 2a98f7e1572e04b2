// Warns before the session ends, and keeps it alive while the person works.
import { Alert, Button, Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { formatSpan } from '../ui/format.ts';
import { useNow } from '../ui/use-now.ts';
import { SESSION_KEY, type Session } from './session.ts';

const WARN_BEFORE_MS = 3 * 60_000;

export function SessionEnd({ session }: { readonly session: Session }) {
  const client = useQueryClient();
  const nowMs = useNow();
  const isIdleEnd = Date.parse(session.ends_at) < Date.parse(session.expires_at);
  const leftMs = Math.min(Date.parse(session.ends_at), Date.parse(session.expires_at)) - nowMs;
  const isOver = leftMs <= 0;
  useEffect(() => {
    // The service decides whether it has ended.
    if (isOver) void client.invalidateQueries({ queryKey: SESSION_KEY });
  }, [isOver, client]);
  if (leftMs > WARN_BEFORE_MS || isOver) return null;
  return (
    <Alert color="orange" mb="md" role="status" title={`Your session ends in ${formatSpan(leftMs)}`}>
      <Group>
        <Text size="sm">After the next log-in you come back to this place.</Text>
        {isIdleEnd && (
          <Button size="compact-sm" onClick={() => void client.invalidateQueries({ queryKey: SESSION_KEY })}>
            Stay logged in
          </Button>
        )}
      </Group>
    </Alert>
  );
}
