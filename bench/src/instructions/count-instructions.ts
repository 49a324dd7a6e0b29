import type { RedisBinary } from '../../../test/support/redis/redis-process.js';
import { SystemProcess } from '../process/system-process.js';
import { CountedRedis } from './counted-redis.js';
import { type Workload, WORKLOADS } from './workloads.js';

export interface CountSettings {
  /** The name of the system. */
  readonly system: string;
  /** The folder of the built library. */
  readonly library: string;
  readonly binary: RedisBinary;
  readonly onProgress: (line: string) => void;
}

/** How often a workload is counted at most. */
const TRIES = 3;

/**
 * How many instructions Redis executes for a message, by workload. They hardly depend on how busy the machine is, but a timer that
 * is late now and then costs a call. So a workload whose count is too high is counted again, and the lowest count holds: what a
 * change of the code costs is in each of them.
 *
 * @param isEnough - whether a count need not be repeated
 */
export async function countInstructions(
  settings: CountSettings,
  isEnough: (workload: string, count: number) => boolean,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const workload of WORKLOADS) {
    settings.onProgress(`instructions · ${settings.system} · ${workload.title}`);
    let lowest = Infinity;
    for (let tries = 0; tries < TRIES && !isEnough(workload.name, lowest); tries++) {
      lowest = Math.min(lowest, await countWorkload(settings, workload));
    }
    counts[workload.name] = lowest;
  }
  return counts;
}

/** Counts once. */
export async function countWorkload(settings: CountSettings, workload: Workload): Promise<number> {
  const [few, many] = workload.messages;
  const fewer = await countRun(settings, workload, few);
  const more = await countRun(settings, workload, many);
  return Math.round((more - fewer) / (many - few));
}

async function countRun({ system, library, binary }: CountSettings, workload: Workload, messages: number) {
  const redis = await CountedRedis.start(binary);
  const processes: SystemProcess[] = [];
  const start = async (role: 'producer' | 'consumer') => {
    const started = await SystemProcess.start({
      system: workload.system ?? system,
      role,
      server: redis.server,
      library,
    });
    processes.push(started);
    return started;
  };
  try {
    await workload.run({ startProducer: () => start('producer'), startConsumer: () => start('consumer') }, messages);
  } finally {
    await Promise.all(processes.map((process) => process.end()));
  }
  return redis.stop();
}
