import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DelayedMessage, DelayQueueEvent, DelayQueueProducer } from '../../lib/index.js';
import { useCluster } from '../support/redis/use-cluster.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';
import { EvenRace } from './even-race.js';

const ABORTS = 1000;
/** The number of concurrent aborts. */
const TOGETHER = 10;
/** The maximum time of the 99th percentile of signals, ms. */
const LIMIT = 100;

const RACES = 10_000;
const RACES_AT_ONCE = 100;

/** A message whose handler waits for its signal. */
type Waiting = Readonly<{ queue: string; id: string }>;

/** Where messages are handled, and when their signals abort. */
interface Handling {
  hasStarted(id: string): boolean;
  /** ms since the epoch; undefined: not yet. */
  abortedAt(id: string): number | undefined;
}

/** Aborts a thousand messages, and tells how long their signals took, ms. */
async function measure(
  producer: DelayQueueProducer,
  queues: readonly string[],
  { hasStarted, abortedAt }: Handling,
): Promise<{ p50: number; p99: number; max: number }> {
  const took: number[] = [];
  for (let first = 0; first < ABORTS; first += TOGETHER) {
    const waiting: Waiting[] = Array.from({ length: TOGETHER }, (_, i) => ({
      queue: queues[(first + i) % queues.length]!,
      id: `m${first + i}`,
    }));
    await Promise.all(waiting.map(({ queue, id }) => producer.offer(queue, { do: 'work-until-aborted' }, 0, { id })));
    await until(() => waiting.every(({ id }) => hasStarted(id)));
    for (const { queue, id } of waiting) {
      const sentAt = Date.now();
      expect(await producer.abort(queue, id)).toBe(true);
      await until(() => abortedAt(id) !== undefined, { every: 1 });
      took.push(abortedAt(id)! - sentAt);
    }
  }
  took.sort((a, b) => a - b);
  return { p50: took[ABORTS / 2]!, p99: took[ABORTS * 0.99]!, max: took.at(-1)! };
}

/** A handler in this process that waits for the signals of its messages. */
class InThisProcess implements Handling {
  /** The names of the reasons for which signals have aborted. */
  readonly reasons = new Set<string>();
  readonly #started = new Set<string>();
  readonly #aborted = new Map<string, number>();

  readonly handle = (_payload: unknown, { id, signal }: DelayedMessage): Promise<void> => {
    this.#started.add(id);
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        this.#aborted.set(id, Date.now());
        this.reasons.add((signal.reason as Error).name);
        resolve();
      });
    });
  };
  readonly hasStarted = (id: string) => this.#started.has(id);
  readonly abortedAt = (id: string) => this.#aborted.get(id);
}

describe('an abort', () => {
  const scene = new Scene({});
  const cluster = useCluster();

  test.each(['one server', 'cluster'])('stops a handler in another process within 100 ms: %s', async (kind) => {
    const queue = scene.newQueue();
    const module = kind === 'cluster' ? { connection: { cluster: { nodes: cluster().nodes } } } : {};
    const { producer } = await scene.startApp({ module: { ...module, consume: false } });
    const worker = await scene.startWorker({ queue, module });
    const took = await measure(producer, [queue], {
      hasStarted: (id) => worker.of('start').some((entry) => entry.id === id),
      abortedAt: (id) => worker.of('aborted').find((entry) => entry.id === id)?.abortedAt,
    });
    console.log(`abort, ${kind}: ${JSON.stringify(took)} ms`);
    expect(took.p99).toBeLessThanOrEqual(LIMIT);
  });

  test('stops a handler within 100 ms if its queue shares its connection with 63 others', async () => {
    const queues = Array.from({ length: 64 }, () => scene.newQueue());
    const handling = new InThisProcess();
    await scene.startApp({ providers: queues.map((queue) => handlerOf(queue, handling.handle)) });
    const { producer } = await scene.startApp({ module: { consume: false } });
    const took = await measure(producer, queues, handling);
    console.log(`abort, shared connection: ${JSON.stringify(took)} ms`);
    expect(took.p99).toBeLessThanOrEqual(LIMIT);
  });

  test('stops a handler of a family even if its queue rarely has messages', async () => {
    const family = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const handling = new InThisProcess();
    const handle = (payload: unknown, message: DelayedMessage) => {
      void producer.abort(message.queue, message.id);
      return handling.handle(payload, message);
    };
    await scene.startApp({ providers: [handlerOf(`${family}-*`, handle)] });
    for (let first = 0; first < ABORTS; first += TOGETHER) {
      const ids = Array.from({ length: TOGETHER }, (_, i) => `m${first + i}`);
      await Promise.all(ids.map((id, i) => producer.offer(`${family}-${(first + i) % (ABORTS / 2)}`, null, 0, { id })));
      await until(() => ids.every((id) => handling.abortedAt(id) !== undefined), { every: 1 });
    }
    expect([...handling.reasons]).toEqual(['MessageAborted']);
  });

  test('races with the end of the handler, and exactly one of the two wins', async () => {
    const queue = scene.newQueue();
    const handled = new Set<string>();
    const observer = {
      event: (event: DelayQueueEvent) => {
        if (event.name === 'handled') handled.add(event.id);
      },
    };
    const started = new Map<string, () => void>();
    const even = new EvenRace();
    const handle = async (_payload: unknown, { id }: DelayedMessage) => {
      started.get(id)?.();
      await sleep(Math.random() * 4 + even.handlerWaits);
    };
    await scene.startApp({
      module: { observers: [observer] },
      providers: [handlerOf(queue, handle, { concurrency: 200 })],
    });
    const { producer } = await scene.startApp({ module: { consume: false } });
    let aborted = 0;
    const race = async (id: string) => {
      const start = new Promise<void>((resolve) => started.set(id, resolve));
      await producer.offer(queue, null, 0, { id });
      await start;
      await sleep(Math.random() * 4 + even.callerWaits);
      const isAborted = await producer.abort(queue, id);
      even.wonBy(isAborted ? 'caller' : 'handler');
      if (!isAborted) await until(() => handled.has(id));
      else aborted++;
      return { id, isAborted };
    };
    const results: { id: string; isAborted: boolean }[] = [];
    for (let first = 0; first < RACES; first += RACES_AT_ONCE) {
      results.push(...(await Promise.all(Array.from({ length: RACES_AT_ONCE }, (_, i) => race(`m${first + i}`)))));
    }
    await until(async () => Object.values(await producer.counts(queue)).every((count) => count === 0));
    console.log(`${aborted} of ${RACES} races were won by the abort`);
    expect(results.filter(({ id, isAborted }) => isAborted === handled.has(id))).toEqual([]);
    expect(aborted).toBeGreaterThan(RACES / 20);
    expect(aborted).toBeLessThan((RACES * 19) / 20);
  });
});
