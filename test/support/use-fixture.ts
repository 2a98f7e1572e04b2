// Fixtures for the cases of a `describe`: hooks start them and stop them.

/** One fixture for all cases of the surrounding `describe`. Its members are there once the hooks have run. */
export function useFixture<Fixture extends object>(
  start: () => Promise<Fixture>,
  stop: (fixture: Fixture) => Promise<unknown> = () => Promise.resolve(),
): Fixture {
  const fixture = {} as Fixture;
  before(async () => {
    Object.assign(fixture, await start());
  });
  after(() => stop(fixture));
  return fixture;
}

/** A new fixture for each case of the surrounding `describe`. */
export function useFixturePerCase<Fixture extends object>(
  start: () => Promise<Fixture>,
  stop: (fixture: Fixture) => Promise<unknown> = () => Promise.resolve(),
): Fixture {
  const fixture = {} as Fixture;
  beforeEach(async () => {
    Object.assign(fixture, await start());
  });
  afterEach(() => stop(fixture));
  return fixture;
}
