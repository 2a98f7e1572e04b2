// The search of the whole console: by an id, a reference, a phone number, an idempotency key or the operator's reference or receipt.
import { Combobox, Group, Text, TextInput, useCombobox } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { answerOf, api, type Schemas } from './api/client.ts';
import { useShortcuts } from './keyboard/shortcuts.ts';
import { Amount } from './ui/amount.tsx';
import { formatCode } from './ui/format.ts';
import { MerchantText } from './ui/merchant-text.tsx';

type Hit = Schemas['SearchHit'];

const TYPING_PAUSE_MS = 250;
const LEAST_LENGTH = 3;
const NOUNS: Readonly<Record<Hit['kind'], string>> = {
  collection: 'Collection',
  payout: 'Payout',
  reversal: 'Refund',
  api_request: 'Request',
  event: 'Event',
  delivery: 'Delivery',
  endpoint: 'Endpoint',
  api_key: 'API key',
  checkout: 'Checkout',
};

export function Search({ onGo }: { readonly onGo?: () => void }) {
  const [, go] = useLocation();
  const [text, setText] = useState('');
  const [asked] = useDebouncedValue(text.trim(), TYPING_PAUSE_MS);
  const input = useRef<HTMLInputElement>(null);
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() });
  useShortcuts({ '/': () => input.current?.focus() });
  const { data, error } = useQuery({
    queryKey: ['search', asked],
    queryFn: () => answerOf(api.GET('/v1/console/search', { params: { query: { q: asked } } })),
    enabled: asked.length >= LEAST_LENGTH,
  });
  const hits = asked.length >= LEAST_LENGTH ? data?.data : undefined;
  return (
    <Combobox
      store={combobox}
      onOptionSubmit={(path) => {
        setText('');
        combobox.closeDropdown();
        go(path);
        onGo?.();
      }}
    >
      <Combobox.Target>
        <TextInput
          ref={input}
          aria-label="Search"
          placeholder="Search (/)"
          value={text}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value);
            combobox.openDropdown();
          }}
          onBlur={() => combobox.closeDropdown()}
          w={{ base: '100%', sm: 320 }}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={hits === undefined && error === null}>
        <Combobox.Options aria-label="What was found">
          {error !== null && <Combobox.Empty>{error.message}</Combobox.Empty>}
          {hits?.length === 0 && <Combobox.Empty>No object matches this text.</Combobox.Empty>}
          {hits?.map((hit) => (
            <Combobox.Option key={hit.id} value={pathOf(hit)}>
              <Found hit={hit} />
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

function Found({ hit }: { readonly hit: Hit }) {
  return (
    <>
      <Group gap="xs" justify="space-between">
        <Text size="sm" fw={600}>
          {NOUNS[hit.kind]}
        </Text>
        {hit.amount !== null && hit.currency !== null && <Amount amount={hit.amount} currency={hit.currency} />}
      </Group>
      <MerchantText text={hit.reference ?? hit.title ?? ''} isLink />
      <Text size="xs" c="dimmed">
        by {formatCode(hit.found_by)}
        {hit.state !== null && `, ${formatCode(hit.state)}`}
      </Text>
    </>
  );
}

function pathOf({ kind, id }: Hit): string {
  if (kind === 'api_key') return '/keys';
  if (kind === 'api_request') return `/requests/${id}`;
  return `/${kind === 'reversal' ? 'refunds' : kind === 'delivery' ? 'deliveries' : `${kind}s`}/${id}`;
}
