// A secret that is shown once: only the page has it, until the person confirms that they have stored it.
import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { CopyText } from './copy-text.tsx';

/** The created object, kept only in a component's state. */
export type Secret = {
  readonly title: string;
  /** Such as `API key`. */
  readonly what: string;
  readonly text: string;
  readonly hint: ReactNode;
};

/** A click outside or Escape does not close it: the secret cannot be shown again. */
export function SecretModal({ secret, onClose }: { readonly secret: Secret | null; readonly onClose: () => void }) {
  if (secret === null) return null;
  const { title, what, text, hint } = secret;
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      centered
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack>
        <Alert color="orange" title={`This ${what} is shown this once`}>
          Copy it now: nobody can show it again, not even the staff of the service.
        </Alert>
        <CopyText text={text} what={what} />
        <Text size="sm" component="div">
          {hint}
        </Text>
        <Group justify="flex-end">
          <Button onClick={onClose}>I have kept it</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
