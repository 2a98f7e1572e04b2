// A person. People choose their names themselves, so the e-mail address of the account stands below each name.
import { Badge, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { MerchantText } from './merchant-text.tsx';

type Someone = Schemas['KnownPerson'] | Schemas['NamedPerson'];

/** Only the id if the account is unattested. */
export function Person({ person }: { readonly person: Someone | null }) {
  if (person === null) return <>–</>;
  const { id, name, email } = person;
  return (
    <span className="person">
      <MerchantText text={name ?? id} />
      {email !== null && (
        <Text component="span" display="block" size="xs" c="dimmed">
          <MerchantText text={email} />
        </Text>
      )}
    </span>
  );
}

/** One of several: `A or B`. */
export function People({ people }: { readonly people: readonly Someone[] }): ReactNode {
  return people.map((person, index) => (
    <span key={person.id}>
      {index > 0 && ' or '}
      <Person person={person} />
    </span>
  ));
}

/** The service itself, in a person's place: a badge, which no name resembles. */
export function TheService() {
  return (
    <Badge variant="default" tt="none" component="span">
      the service
    </Badge>
  );
}

/** Who acted; null: the service itself. */
export function Actor({ person }: { readonly person: Someone | null }) {
  return person === null ? <TheService /> : <Person person={person} />;
}
