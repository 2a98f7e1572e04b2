// Tells merchants that an operator takes no payments now, and what happens to theirs.
import { Alert } from '@mantine/core';
import { Moment } from '../ui/moment.tsx';
import { useDelays, type Delay } from './operators.ts';

const WAITING: Readonly<Record<Delay['service'], string>> = {
  collections:
    'Payers are asked once it answers. A collection that cannot be asked for in its time expires, and nobody is charged for it.',
  money_out: 'Payouts and refunds wait, and are sent once it answers. None is lost, and none is sent twice.',
};
const WHAT: Readonly<Record<Delay['service'], string>> = {
  collections: 'collections',
  money_out: 'payouts and refunds',
};

export function Delays() {
  return useDelays().map(({ operator, name, service, since }) => (
    <Alert
      key={`${operator} ${service}`}
      color="blue"
      mb="md"
      role="status"
      title={
        <>
          {name} is delayed since <Moment at={since} />: {WHAT[service]}
        </>
      }
    >
      {WAITING[service]}
    </Alert>
  ));
}
