// The overview of keyboard shortcuts, which also turns them off.
import { Group, Kbd, Modal, Stack, Switch, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { setShortcutsOn, useListKeys, useShortcuts, useShortcutsOn } from './shortcuts.ts';

const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['j', 'k'], 'The next row of a list, the one before'],
  [['Enter'], 'Open it'],
  [['x'], 'Choose it, among approvals'],
  [['/'], 'Search'],
  [['?'], 'This sheet'],
  [['Esc'], 'Close what is open'],
];

/** Activates the shortcuts of all pages; opened by `?` and from the person's menu. */
export function useKeyboardHelp() {
  const [isOpen, { open, close }] = useDisclosure();
  useListKeys();
  useShortcuts({ '?': open });
  return { open, sheet: <KeyboardHelp isOpen={isOpen} onClose={close} /> };
}

function KeyboardHelp({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const isOn = useShortcutsOn();
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keyboard" centered>
      <Stack>
        <Table aria-label="Keys">
          <Table.Tbody>
            {KEYS.map(([keys, what]) => (
              <Table.Tr key={what}>
                <Table.Th w={110}>
                  <Group gap={4} wrap="nowrap">
                    {keys.map((key) => (
                      <Kbd key={key}>{key}</Kbd>
                    ))}
                  </Group>
                </Table.Th>
                <Table.Td>{what}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        <Switch
          label="Use single keys"
          checked={isOn}
          onChange={({ currentTarget }) => setShortcutsOn(currentTarget.checked)}
        />
        <Text size="sm" c="dimmed">
          The keys do nothing while you type.
        </Text>
      </Stack>
    </Modal>
  );
}
