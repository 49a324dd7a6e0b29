import type { Stage } from '../measure/stage.js';
import type { SystemProcess } from '../process/system-process.js';

/** Starts consumers until there are so many. */
export async function joinUpTo(number: number, stage: Stage, consumers: SystemProcess[]): Promise<void> {
  const missing = Array.from({ length: number - consumers.length }, async () => {
    const consumer = await stage.startConsumer();
    await consumer.ask('start');
    consumers.push(consumer);
  });
  await Promise.all(missing);
}
