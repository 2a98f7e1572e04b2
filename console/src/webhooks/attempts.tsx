// The attempts of a delivery, newest first: time, duration, and the endpoint's answer as text.
import { Accordion, Badge, Code, Group, Stack, Text } from '@mantine/core';
import type { Schemas } from '../api/client.ts';
import { Fields } from '../ui/fields.tsx';
import { Moment } from '../ui/moment.tsx';

type Attempt = Schemas['DeliveryAttempt'];

export function Attempts({ attempts }: { readonly attempts: readonly Attempt[] }) {
  if (attempts.length === 0) return <Text c="dimmed">Not yet sent.</Text>;
  const newest = attempts.at(-1)?.number;
  return (
    <Accordion variant="separated" order={3} multiple defaultValue={newest === undefined ? [] : [String(newest)]}>
      {attempts.toReversed().map((attempt) => (
        <Accordion.Item key={attempt.number} value={String(attempt.number)}>
          <Accordion.Control>
            <Group gap="sm">
              <Text fw={600}>Attempt {attempt.number}</Text>
              <Outcome attempt={attempt} />
              <Text size="sm" c="dimmed">
                <Moment at={attempt.started_at} /> · {attempt.duration_ms} ms
              </Text>
            </Group>
          </Accordion.Control>
          <Accordion.Panel>
            <Answer attempt={attempt} />
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

function Outcome({ attempt: { status_code: code } }: { readonly attempt: Attempt }) {
  const isAccepted = code !== null && code >= 200 && code <= 299;
  return (
    <Badge variant="light" color={isAccepted ? 'teal' : 'red'} tt="none" autoContrast>
      {code === null ? 'no answer' : `answered ${code}`}
    </Badge>
  );
}

function Answer({ attempt }: { readonly attempt: Attempt }) {
  const { error, response_headers: headers, response_body: body, response_truncated: isTruncated } = attempt;
  if (error !== null) return <Text>There was no answer: {error}</Text>;
  return (
    <Stack gap="sm">
      {body === null || body === '' ? (
        <Text c="dimmed">The answer has no body.</Text>
      ) : (
        <div>
          <Text size="sm" fw={600}>
            The receiver’s body
          </Text>
          <Code block className="whole-text" tabIndex={0} aria-label={`Body of answer ${attempt.number}`} role="region">
            {body}
          </Code>
        </div>
      )}
      {isTruncated !== false && body !== null && body !== '' && (
        <Text size="sm" c="dimmed">
          {isTruncated === true
            ? 'The answer was longer; its first 16 KiB are kept.'
            : 'The answer may have been longer.'}
        </Text>
      )}
      {headers !== null && Object.keys(headers).length > 0 && (
        <div>
          <Text size="sm" fw={600}>
            The receiver’s headers
          </Text>
          <Fields label={`Headers of answer ${attempt.number}`} fields={Object.entries(headers)} />
        </div>
      )}
    </Stack>
  );
}
