import { beforeAll, describe, expect, test } from '@jest/globals';
import type { DelayQueueProducer } from '../../lib/index.js';
import { nativeLibrary } from '../../lib/store/native/native-library.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import type { Hold } from '../support/tcp-proxy/faults.js';
import { callsOf } from '../support/tcp-proxy/filters.js';
import { Proxies } from '../support/tcp-proxy/proxies.js';
import type { TcpProxy } from '../support/tcp-proxy/tcp-proxy.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';
import type { Task } from '../support/worker/worker-settings.js';

const LEASE = 2000;
/** How long after its lease or due time a message of a dead process may take, ms; 2 s are promised, the rest is for a busy machine. */
const WITHIN = 2000 + 3000;

interface Doomed {
  /** How often the handler was started with the message, and ended. */
  readonly calls: { readonly started: number; readonly ended: number };
  readonly hold: Hold | undefined;
  /** The state of the message in Redis now. */
  state(): Promise<string | undefined>;
}

interface CrashPoint {
  readonly point: string;
  /** True if transfers and claims are separate calls, because the queue has a rate. */
  readonly isLimited?: boolean;
  /** What the proxy holds back at this point. */
  readonly hold?: (proxy: TcpProxy) => Hold;
  /** True once the process is exactly at this point. */
  readonly reached: (doomed: Doomed) => unknown;
  /** The attempts that the doomed process made, then those of the other one. */
  readonly attempts: readonly [doomed: number[], other: number[]];
}

const task: Task = { do: 'work', ms: 60_000, firstAttemptOnly: true };
const quick: Task = null;

const POINTS: readonly (CrashPoint & { readonly task: Task })[] = [
  {
    point: 'before its transfer arrives',
    task: quick,
    hold: (proxy) => proxy.hold(callsOf('transfer')),
    reached: ({ hold }) => hold!.count > 0,
    attempts: [[], [1]],
  },
  {
    point: 'before the answer to its transfer arrives',
    task: quick,
    isLimited: true,
    hold: (proxy) => {
      // The process also waits for the wake-up signal and would claim.
      proxy.hold(callsOf('claim'));
      return proxy.holdReplies(callsOf('transfer'));
    },
    reached: async ({ hold, state }) => hold!.count > 0 && (await state()) === 'ready',
    attempts: [[], [1]],
  },
  {
    point: 'before the answer to its claim arrives',
    task: quick,
    isLimited: true,
    hold: (proxy) => proxy.holdReplies(callsOf('claim')),
    reached: async ({ state }) => (await state()) === 'active',
    attempts: [[], [2]],
  },
  {
    point: 'before the answer to a transfer that claims arrives',
    task: quick,
    hold: (proxy) => proxy.holdReplies(callsOf('transfer')),
    reached: async ({ state }) => (await state()) === 'active',
    attempts: [[], [2]],
  },
  {
    point: 'while its handler runs',
    task,
    reached: ({ calls }) => calls.started === 1,
    attempts: [[1], [2]],
  },
  {
    point: 'before its outcome arrives',
    task: quick,
    hold: (proxy) => proxy.hold(callsOf('settle')),
    reached: ({ calls, hold }) => calls.ended === 1 && hold!.count === 1,
    attempts: [[1], [2]],
  },
  {
    point: 'before the answer to its outcome arrives',
    task: quick,
    hold: (proxy) => proxy.holdReplies(callsOf('settle')),
    reached: async ({ calls, state }) => calls.ended === 1 && (await state()) === undefined,
    attempts: [[1], []],
  },
];

describe('a process killed with SIGKILL', () => {
  const scene = new Scene();
  const proxies = new Proxies(scene);

  // A held back answer that the function is missing would keep the process from loading it.
  beforeAll(async () => {
    await scene.redis.function('LOAD', 'REPLACE', nativeLibrary.source);
  });

  /**
   * Waits until the worker has ended its startup transfers and claims: a held back answer to one of them would hold up all later
   * ones. It makes the last of them when its subscription starts, so before it settles a message that was offered after that.
   */
  async function endStartup(producer: DelayQueueProducer, queue: string): Promise<void> {
    const channel = scene.key(queue, 'due');
    await until(async () => Number((await scene.redis.pubsub('NUMSUB', channel))[1]) > 0, { within: 30_000 });
    await producer.offer(queue, quick, 100, { id: 'first' });
    await until(async () => !(await producer.find(queue, 'first')), { within: 30_000 });
  }

  async function killAt({ task: payload, isLimited, hold, reached }: (typeof POINTS)[number]) {
    const queue = scene.newQueue();
    const handled = new Handled();
    const proxy = await proxies.start();
    const handler = { lease: LEASE, ...(isLimited && { rate: { max: 1000, per: '1s' } }) };
    const { producer } = await scene.startApp({ module: { consume: false } });
    const worker = await scene.startWorker({ queue, handler, module: { connection: proxy.url } });
    await endStartup(producer, queue);
    const held = hold?.(proxy);
    await producer.offer(queue, payload, 100, { id: 'm' });
    const state = async () => (await producer.find(queue, 'm'))?.state;
    const of = (event: 'start' | 'end') => worker.of(event).filter(({ id }) => id === 'm');
    const calls = () => ({ started: of('start').length, ended: of('end').length });
    await until(() => reached({ calls: calls(), hold: held, state }), { within: 30_000 });
    await worker.end('SIGKILL');
    const killedAt = performance.now();
    await scene.startApp({ providers: [handlerOf(queue, handled.record, handler)] });
    await until(async () => (await state()) === undefined, { within: LEASE + WITHIN });
    const took = Math.round(performance.now() - killedAt);
    expect(Object.values(await producer.counts(queue))).toEqual([0, 0, 0, 0]);
    return {
      took,
      doomed: of('start').map(({ attempt }) => attempt),
      other: handled.calls.map(({ attempt }) => attempt),
      late: handled.calls.map(({ late }) => late),
    };
  }

  test('loses no message at any step, and no message is handled more than twice', async () => {
    const outcomes = await Promise.all(POINTS.map(killAt));
    console.log(
      outcomes.map(({ took }, i) => `${POINTS[i]!.point}: message gone ${took} ms after the kill`).join('\n'),
    );
    for (const [i, { point, attempts }] of POINTS.entries()) {
      const { doomed, other, late } = outcomes[i]!;
      expect([point, doomed, other]).toEqual([point, ...attempts]);
      for (const ms of late) expect(ms).toBeGreaterThanOrEqual(0);
    }
  });
});
