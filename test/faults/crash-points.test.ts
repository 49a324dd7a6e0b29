import { describe, expect, test } from '@jest/globals';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import type { Hold } from '../support/tcp-proxy/faults.js';
import { callsOf } from '../support/tcp-proxy/filters.js';
import { Proxies } from '../support/tcp-proxy/proxies.js';
import type { TcpProxy } from '../support/tcp-proxy/tcp-proxy.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';
import type { WorkerProcess } from '../support/worker/worker-process.js';
import type { Task } from '../support/worker/worker-settings.js';

const LEASE = 2000;
/** How long after a lease, or a due time, a message that a dead process left behind may take, ms: a second or two, and room for a busy machine. */
const WITHIN = 2000 + 3000;

interface Doomed {
  readonly worker: WorkerProcess;
  readonly hold: Hold | undefined;
  /** What Redis has of the message now. */
  state(): Promise<string | undefined>;
}

interface CrashPoint {
  readonly point: string;
  /** What the proxy keeps from the process. */
  readonly hold?: (proxy: TcpProxy) => Hold;
  /** The process is exactly there. */
  readonly reached: (doomed: Doomed) => unknown;
  /** Attempts on the doomed process, then on the other one. */
  readonly attempts: readonly [doomed: number[], other: number[]];
}

const task: Task = { do: 'work', ms: 60_000, firstAttemptOnly: true };
const quick: Task = null;

const POINTS: readonly (CrashPoint & { readonly task: Task })[] = [
  {
    point: 'its transfer is on its way',
    task: quick,
    hold: (proxy) => proxy.hold(callsOf('transfer')),
    reached: ({ hold }) => hold!.count > 0,
    attempts: [[], [1]],
  },
  {
    point: 'its transfer is done, and the answer on its way',
    task: quick,
    hold: (proxy) => {
      // It is at the doorbell too, and would claim.
      proxy.hold(callsOf('claim'));
      return proxy.holdReplies(callsOf('transfer'));
    },
    reached: async ({ hold, state }) => hold!.count > 0 && (await state()) === 'ready',
    attempts: [[], [1]],
  },
  {
    point: 'its claim is done, and its handler has not started',
    task: quick,
    hold: (proxy) => proxy.holdReplies(callsOf('claim')),
    reached: async ({ state }) => (await state()) === 'active',
    attempts: [[], [2]],
  },
  {
    point: 'its handler runs',
    task,
    reached: ({ worker }) => worker.of('start').length === 1,
    attempts: [[1], [2]],
  },
  {
    point: 'its handler has ended, and the outcome is on its way',
    task: quick,
    hold: (proxy) => proxy.hold(callsOf('settle')),
    reached: ({ worker, hold }) => worker.of('end').length === 1 && hold!.count === 1,
    attempts: [[1], [2]],
  },
  {
    point: 'its message is settled, and it does not know yet',
    task: quick,
    hold: (proxy) => proxy.holdReplies(callsOf('settle')),
    reached: async ({ worker, state }) => worker.of('end').length === 1 && (await state()) === undefined,
    attempts: [[1], []],
  },
];

describe('a process is killed (-9) at the very moment when', () => {
  const scene = new Scene();
  const proxies = new Proxies(scene);

  async function killAt({ task: payload, hold, reached }: (typeof POINTS)[number]) {
    const queue = scene.newQueue();
    const handled = new Handled();
    const proxy = await proxies.start();
    const handler = { lease: LEASE };
    const { producer } = await scene.startApp({ module: { consume: false } });
    const worker = await scene.startWorker({ queue, handler, module: { connection: proxy.url } });
    const held = hold?.(proxy);
    await producer.offer(queue, payload, 100, { id: 'm' });
    const state = async () => (await producer.find(queue, 'm'))?.state;
    await until(() => reached({ worker, hold: held, state }), { within: 10_000 });
    await worker.end('SIGKILL');
    const killedAt = performance.now();
    await scene.startApp({ providers: [handlerOf(queue, handled.record, handler)] });
    await until(async () => (await state()) === undefined, { within: LEASE + WITHIN });
    const took = Math.round(performance.now() - killedAt);
    expect(Object.values(await producer.counts(queue))).toEqual([0, 0, 0, 0]);
    return {
      took,
      doomed: worker.of('start').map(({ attempt }) => attempt),
      other: handled.calls.map(({ attempt }) => attempt),
      late: handled.calls.map(({ late }) => late),
    };
  }

  test('it has a message in hand: nothing is lost, and no message is handled more than twice', async () => {
    const outcomes = await Promise.all(POINTS.map(killAt));
    console.log(outcomes.map(({ took }, i) => `${POINTS[i]!.point}: gone ${took} ms after the kill`).join('\n'));
    for (const [i, { point, attempts }] of POINTS.entries()) {
      const { doomed, other, late } = outcomes[i]!;
      expect([point, doomed, other]).toEqual([point, ...attempts]);
      for (const ms of late) expect(ms).toBeGreaterThanOrEqual(0);
    }
  });
});
