// Light or dark: as the reader's system says, until they choose.
import { ActionIcon, Tooltip, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { MoonIcon, SunIcon } from './icons.tsx';

export function ColorSchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const current = useComputedColorScheme('light');
  const other = current === 'dark' ? 'light' : 'dark';
  return (
    <Tooltip label={`Use ${other} colours`}>
      <ActionIcon variant="subtle" onClick={() => setColorScheme(other)} aria-label={`Use ${other} colours`}>
        {current === 'dark' ? <SunIcon /> : <MoonIcon />}
      </ActionIcon>
    </Tooltip>
  );
}
