// Who somebody is: by name, with the e-mail address on hover; by id alone when nobody knows the name any more.
import { Text, Tooltip } from '@mantine/core';
import type { Schemas } from '../api/client.ts';
import { MerchantText } from './merchant-text.tsx';

export function Person({ person }: { readonly person: Schemas['KnownPerson'] | null }) {
  if (person === null) return <>–</>;
  const { id, name, email } = person;
  return (
    <Tooltip label={email ?? id}>
      <Text component="span" inherit>
        <MerchantText text={name ?? id} />
      </Text>
    </Tooltip>
  );
}
