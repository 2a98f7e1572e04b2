// The operators that pay, and the countries whose numbers the merchant may write without their code.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { useSession } from '../session/session.ts';
import { usePresence } from '../ui/presence.ts';

const ASKED_EVERY_MS = 15_000;

export const OPERATORS_QUERY = queryOptions({
  queryKey: ['operators'],
  queryFn: () => answerOf(api.GET('/v1/console/operators', {})),
  // Their markets change when the service restarts, and their delays at any time.
  staleTime: ASKED_EVERY_MS,
});

/** The countries in which the currency is paid (ISO 3166-1 alpha-2). */
export function countriesOf({ data }: Schemas['OperatorList'], currency: string): readonly string[] {
  const markets = data.flatMap((operator) => operator.markets).filter((market) => market.currency === currency);
  return [...new Set(markets.map(({ country }) => country))];
}

/** The countries of the merchant's currency; undefined while unknown. */
export function useCountries(): readonly string[] | undefined {
  const { currency } = useSession().merchant;
  const { data } = useQuery(OPERATORS_QUERY);
  return data && countriesOf(data, currency);
}

/** Why they are unknown; null: they are known, or requested. */
export function useOperatorsError(): Error | null {
  return useQuery(OPERATORS_QUERY).error;
}

/** The operators that pay in the merchant's currency; none while unknown. */
export function useOperators(): Schemas['OperatorList']['data'] {
  const { currency } = useSession().merchant;
  const { data } = useQuery(OPERATORS_QUERY);
  return (data?.data ?? []).filter(({ markets }) => markets.some((market) => market.currency === currency));
}

/** Whether the operator refunds collections; undefined while unknown. */
export function useOffersRefunds(operator: string): boolean | undefined {
  const { data } = useQuery(OPERATORS_QUERY);
  // An operator that the deployment reaches no more is not listed.
  return data?.data.some(({ id, refunds }) => id === operator && refunds);
}

/** The delays of the operators of the merchant's currency, polled while a person is present. */
export function useDelays(): readonly Delay[] {
  const { currency } = useSession().merchant;
  const isPresent = usePresence();
  const { data } = useQuery({ ...OPERATORS_QUERY, refetchInterval: isPresent && ASKED_EVERY_MS });
  return (data?.data ?? [])
    .filter(({ markets }) => markets.some((market) => market.currency === currency))
    .flatMap(({ id, name, services }) =>
      services.flatMap(({ service, availability, since }) =>
        availability === 'open' || since === null ? [] : [{ operator: id, name, service, since }],
      ),
    );
}

export type Delay = {
  readonly operator: string;
  readonly name: string;
  readonly service: 'collections' | 'money_out';
  readonly since: string;
};
