// The fate of spans that still wait when their process ends.
import assert from 'node:assert/strict';
import { loadConfig } from '../../src/settings/config.ts';
import { traceIdOf } from '../../src/domain/trace.ts';
import { createOtlpTraces } from '../../src/server/telemetry/otlp-traces.ts';
import { collectedLog } from '../support/log-lines.ts';
import { eventually } from '../support/test-environment.ts';
import { useFixture } from '../support/use-fixture.ts';
import { recordSpans, startCollector } from './collector.ts';
import { SOUND } from '../settings/sound-settings.ts';

describe('spans that wait at the end of a process', () => {
  const collector = useFixture(
    () => startCollector({ isMute: true }),
    (started) => started.stop(),
  );

  it('are sent at once, all of them, beside those whose collector has not answered yet', async () => {
    const { traceExport } = loadConfig({ ...SOUND, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    assert.ok(traceExport !== null);
    const traces = createOtlpTraces(traceExport, 'test', collectedLog('warn').log);
    const ids = Array.from({ length: 4000 }, (_, n) => `payment ${n}`);
    recordSpans(traces, ids);
    await eventually('the first export', () => collector.bodies.length > 0);
    const closed = traces.close();
    const missing = () => {
      const sent = collector.bodies.join();
      return ids.filter((id) => !sent.includes(traceIdOf(id)));
    };
    await eventually('all others', () => missing().length === 0);
    await closed;
  });
});
