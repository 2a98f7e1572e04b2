// Text that a press copies: ids, keys, links.
import { ActionIcon, Code, CopyButton, Group, Tooltip } from '@mantine/core';
import { CopyIcon, DoneIcon } from './icons.tsx';
import { MerchantText } from './merchant-text.tsx';

type CopyTextProps = {
  readonly text: string;
  readonly what: string;
  /** Replaces the whole text if there is little room. */
  readonly shown?: string;
  /** Whether a long text is shown whole only on demand. */
  readonly isCut?: boolean;
};

export function CopyText({ text, what, shown = text, isCut = false }: CopyTextProps) {
  return (
    <Group gap={4} wrap="nowrap" component="span" display="inline-flex" maw="100%">
      <Code style={shown === text ? { overflowWrap: 'anywhere' } : { whiteSpace: 'nowrap' }}>
        {isCut ? <MerchantText text={text} /> : shown}
      </Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? 'Copied' : `Copy the ${what}`}>
            <ActionIcon variant="subtle" size="sm" onClick={copy} aria-label={copied ? 'Copied' : `Copy the ${what}`}>
              {copied ? <DoneIcon /> : <CopyIcon />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </Group>
  );
}
