// Fixtures for the cases of a `describe`: hooks start them and stop them.

type UseFixture = <Fixture extends object>(
  start: () => Promise<Fixture>,
  stop?: (fixture: Fixture) => Promise<unknown>,
) => Fixture;

/** One fixture for all cases of the surrounding `describe`. Its members are there once the hooks have run. */
export const useFixture: UseFixture = (start, stop) => {
  const { fixture, prepare, end } = onceStarted(start, stop);
  before(prepare);
  after(end);
  return fixture;
};

/** A new fixture for each case of the surrounding `describe`. */
export const useFixturePerCase: UseFixture = (start, stop) => {
  const { fixture, prepare, end } = onceStarted(start, stop);
  beforeEach(prepare);
  afterEach(end);
  return fixture;
};

// Mocha calls the second hook even when the first has failed: then there is nothing to stop.
function onceStarted<Fixture extends object>(
  start: () => Promise<Fixture>,
  stop: (fixture: Fixture) => Promise<unknown> = () => Promise.resolve(),
) {
  const fixture = {} as Fixture;
  let isStarted = false;
  return {
    fixture,
    prepare: async () => {
      Object.assign(fixture, await start());
      isStarted = true;
    },
    end: async () => {
      if (!isStarted) return;
      isStarted = false;
      await stop(fixture);
    },
  };
}
