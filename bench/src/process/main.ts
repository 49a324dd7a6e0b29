/** Runs one system as a producer or a consumer, and carries out the tasks that its parent sends. */
import { systemOf } from '../systems.js';
import { ConsumerRunner } from './consumer.js';
import { ownUsage } from './own-usage.js';
import { ProducerRunner } from './producer.js';
import type { Answer, ProcessSettings, Request } from './protocol.js';

const { system, role, server, library } = JSON.parse(process.argv[2]!) as ProcessSettings;
const adapter = await systemOf(system).load(library);
const runner =
  role === 'producer' ? new ProducerRunner(await adapter.openProducer(server)) : new ConsumerRunner(adapter, server);

const send = (answer: Answer) => process.send!(answer);

async function answer({ id, task, work }: Request): Promise<void> {
  try {
    const owner = task in ownUsage ? ownUsage : runner;
    const method = (owner as unknown as Record<string, (work: unknown) => Promise<unknown>>)[task];
    send({ id, result: await method!.call(owner, work) });
  } catch (error) {
    send({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

process.on('message', (request: Request) => void answer(request));
// The parent is gone, so nobody needs this process any more.
process.on('disconnect', () => process.exit());
send({ id: 'ready' });
