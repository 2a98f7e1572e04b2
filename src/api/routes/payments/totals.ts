// The totals of payments, and the overview on the console's first page.
import { invalidParameters } from '../../../domain/errors.ts';
import { clocksOf, daysBetween } from '../../../domain/time-zone.ts';
import { reachedOperators } from '../../../domain/payments/operator-catalogue.ts';
import { MAX_TOTAL_DAYS } from '../../../domain/payments/totals.ts';
import { getOverview } from '../../../operations/get-overview.ts';
import { listDayTotals } from '../../../db/payments/totals.ts';
import type { EndpointDeps } from '../webhooks/endpoints.ts';
import { route, routesUnder, type PaymentDeps } from '../../route.ts';
import {
  dayTotalObject,
  daysOf,
  getOverviewSchema,
  getTotalsSchema,
  overviewObject,
  overviewSchema,
  totalsSchema,
} from '../../schemas/payments/totals.ts';

type OverviewDeps = PaymentDeps & Pick<EndpointDeps, 'endpointFailingLimitMs'>;

export const totalsRoutes = routesUnder<OverviewDeps>('Console overview', '/v1/console', [
  route('GET /overview', {
    operationId: 'getOverview',
    summary: 'Read the overview: balance, today against the same time a week ago, waiting and failing work',
    description: 'All figures are from the same instant.',
    access: 'session',
    query: getOverviewSchema,
    response: { status: 200, description: 'The overview.', schema: overviewSchema },
    handle: async ({ session: { person }, query: { time_zone: zone } }, deps) => {
      const overview = await getOverview(deps.db, person, zone, new Date());
      const reached = reachedOperators(deps.payments.coverage);
      const operators = overview.operators.filter(({ operator }) => reached.includes(operator));
      return { body: overviewObject({ ...overview, operators }, zone, deps.endpointFailingLimitMs) };
    },
  }),
  route('GET /totals', {
    operationId: 'getTotals',
    summary: 'Count the payments created on each day and their amounts, by operator and current state',
    description: `At most ${MAX_TOTAL_DAYS} days. The figures are always exact, and their cost does not depend on the number of payments.`,
    access: 'session',
    query: getTotalsSchema,
    response: { status: 200, description: 'The totals.', schema: totalsSchema },
    handle: async ({ merchantId, session: { person }, query }, deps) => {
      const { isInRange, ...range } = daysOf(query, new Date());
      if (!isInRange) {
        const message = `to must be from the same day up to ${MAX_TOTAL_DAYS - 1} days after from.`;
        throw invalidParameters([{ param: 'to', code: 'parameter_invalid', message }]);
      }
      const { from, to, timeZone } = range;
      const totals = await listDayTotals(deps.db, merchantId, daysBetween(clocksOf(timeZone), { from, to }));
      const { merchantCurrency: currency } = person;
      return { body: { from, to, time_zone: timeZone, currency, data: totals.map(dayTotalObject) } };
    },
  }),
]);
