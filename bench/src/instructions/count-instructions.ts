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

/** How many instructions Redis executes for a message, by workload. They hardly depend on how busy the machine is. */
export async function countInstructions(settings: CountSettings): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const workload of WORKLOADS) {
    settings.onProgress(`instructions · ${settings.system} · ${workload.title}`);
    const [few, many] = workload.messages;
    const fewer = await countRun(settings, workload, few);
    const more = await countRun(settings, workload, many);
    counts[workload.name] = Math.round((more - fewer) / (many - few));
  }
  return counts;
}

async function countRun({ system, library, binary }: CountSettings, workload: Workload, messages: number) {
  const redis = await CountedRedis.start(binary);
  const processes: SystemProcess[] = [];
  const start = async (role: 'producer' | 'consumer') => {
    const started = await SystemProcess.start({ system, role, server: redis.server, library });
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
