import { type Size, Stage } from './measure/stage.js';
import { summarize } from './measure/summary.js';
import type { Row } from './results.js';
import type { Scenario } from './scenarios/scenario.js';
import type { System } from './systems.js';

export interface RunSettings {
  readonly size: Size;
  readonly rounds: number;
  readonly systems: readonly System[];
  readonly scenarios: readonly Scenario[];
  /** The folder of the built library, for each system. */
  readonly libraryOf: (system: System) => string;
  /** Is called before each measurement. */
  readonly onProgress: (line: string) => void;
  /** Is called after each measurement that failed, and leaves a gap in the table. */
  readonly onFailure: (line: string) => void;
}

/** Milliseconds after which a measurement is given up. */
const TIMEOUT = 15 * 60_000;

type Values = Readonly<Record<string, number | undefined>>;

/** Measures the systems of each scenario one right after the other. Each round starts with another system. */
export async function run(settings: RunSettings): Promise<Row[]> {
  const rows: Row[] = [];
  for (const scenario of settings.scenarios) {
    const systems = settings.systems.filter((system) => takesPart(system, scenario));
    const rounds = Math.min(settings.rounds, scenario.maxRounds ?? Infinity);
    const measured = new Map<System, Values[]>(systems.map((system) => [system, []]));
    for (let round = 0; round < rounds; round++) {
      for (const batch of orderOf(systems, round, scenario.idle ?? false)) {
        await Promise.all(
          batch.map(async (system) => {
            settings.onProgress(`${scenario.name} · ${system.title} · round ${round + 1} of ${rounds}`);
            measured.get(system)!.push(await measure(settings, scenario, system));
          }),
        );
      }
    }
    rows.push(...rowsOf(scenario, measured));
  }
  return rows;
}

function takesPart(system: System, scenario: Scenario): boolean {
  return (system.scenarios?.includes(scenario.name) ?? true) && (scenario.suits?.(system) ?? true);
}

/** @returns groups of systems that are measured together */
function orderOf(systems: readonly System[], round: number, atOnce: boolean): (readonly System[])[] {
  if (atOnce) return [systems];
  const first = round % systems.length;
  return [...systems.slice(first), ...systems.slice(0, first)].map((system) => [system]);
}

async function measure({ size, libraryOf, onFailure }: RunSettings, scenario: Scenario, system: System) {
  const stage = await Stage.open({ system, size, library: libraryOf(system), cluster: scenario.cluster ?? false });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${TIMEOUT / 60_000} minutes`)), TIMEOUT);
  });
  try {
    return await Promise.race([scenario.measure(stage), late]);
  } catch (error) {
    onFailure(`${scenario.name} · ${system.title} failed: ${String(error)}`);
    return {};
  } finally {
    clearTimeout(timer);
    await stage.close();
  }
}

/** Leaves out figures without any value: quick runs do not measure all of them. */
function rowsOf(scenario: Scenario, measured: ReadonlyMap<System, readonly Values[]>): Row[] {
  const rows = scenario.figures.map((figure) => ({
    scenario: scenario.title,
    figure,
    systems: Object.fromEntries(
      [...measured].flatMap(([system, rounds]) => {
        const values = rounds.map((round) => round[figure.key]).filter((value) => value !== undefined);
        return values.length > 0 ? [[system.name, summarize(values)]] : [];
      }),
    ),
  }));
  return rows.filter(({ systems }) => Object.keys(systems).length > 0);
}
