// Chooses all ports of the embedded start before anything is started.
import type { StartSettings } from '../settings/config.ts';
import { choosePort } from '../engines/process/ports.ts';

type Setting = Extract<keyof StartSettings, `${string}_PORT`>;

const LISTENERS = {
  postgres: ['PostgreSQL', 'MALIPO_POSTGRES_PORT'],
  temporal: ['the Temporal server', 'MALIPO_TEMPORAL_PORT'],
  temporalUi: ['the Temporal UI', 'MALIPO_TEMPORAL_UI_PORT'],
  http: ['the API', 'MALIPO_HTTP_PORT'],
  metrics: ['the metrics', 'MALIPO_METRICS_PORT'],
  sandbox: ['the sandbox operator', 'MALIPO_SANDBOX_PORT'],
  receiver: ['the demo receiver', 'MALIPO_RECEIVER_PORT'],
  kesReceiver: ['the Kenyan demo receiver', 'MALIPO_KES_RECEIVER_PORT'],
} as const satisfies Readonly<Record<string, readonly [string, Setting]>>;

type Listener = keyof typeof LISTENERS;

/** With a process per role, the roles have the ports after the metrics port. */
const FOLLOWING: Readonly<Partial<Record<Listener, number>>> = { metrics: 2 };

function portsFrom(first: number, following = 0): number[] {
  return Array.from({ length: 1 + following }, (_, index) => first + index);
}

export type Ports = Readonly<Record<Listener, number>>;

export type PortsOptions = {
  readonly host: string;
  readonly settings: StartSettings;
  readonly isExplicit: (name: keyof StartSettings) => boolean;
  readonly report: (line: string) => void;
};

/** A port for each listener: chosen, usual or else free, and reported. Throws for a chosen one in use. */
export async function choosePorts(options: PortsOptions): Promise<Ports> {
  const { settings, isExplicit, host, report } = options;
  const all = (Object.keys(LISTENERS) as Listener[]).filter((listener) => isNeeded(listener, settings));
  const chosen = all.filter((listener) => isExplicit(LISTENERS[listener][1]));
  refuseEqual(chosen, settings);
  const ports: Partial<Record<Listener, number>> = {};
  // Chosen ports come first: the usual port of another listener gives way.
  for (const listener of [...chosen, ...all.filter((each) => !chosen.includes(each))]) {
    const [name, setting] = LISTENERS[listener];
    const usedPorts = Object.entries(ports).flatMap(([name, port]) => portsFrom(port, FOLLOWING[name as Listener]));
    const request = {
      name,
      host,
      preferred: settings[setting],
      setting,
      isExplicit: isExplicit(setting),
      report,
      taken: usedPorts,
      following: FOLLOWING[listener] ?? 0,
    };
    ports[listener] = await choosePort(request);
  }
  // An external cluster has its own ports.
  return { temporal: 0, temporalUi: 0, ...ports } as Ports;
}

function isNeeded(listener: Listener, { MALIPO_TEMPORAL_ADDRESS: cluster }: StartSettings): boolean {
  return cluster === undefined || (listener !== 'temporal' && listener !== 'temporalUi');
}

function refuseEqual(chosen: readonly Listener[], settings: StartSettings): void {
  const bySetting = new Map<number, Setting>();
  for (const [, setting] of chosen.map((listener) => LISTENERS[listener])) {
    const port = settings[setting];
    const other = bySetting.get(port);
    if (other !== undefined)
      throw new Error(`${other} and ${setting} are both ${port}. Set one of them to another port.`);
    bySetting.set(port, setting);
  }
}
