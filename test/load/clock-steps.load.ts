import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Handled } from '../support/handled.js';
import { isEmpty } from '../support/is-empty.js';
import { Latch } from '../support/latch.js';
import { SettableClock } from '../support/redis/settable-clock.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const HOUR = 3600;
const BLOCK_TIMEOUT = 1000;
const CHECK_INTERVAL = 2000;
const LEASE = 3000;
/** The extra time, beyond its bound, that anything may take on a busy machine, ms. */
const SLACK = 3000;

function prepareClock(): SettableClock | undefined {
  try {
    return new SettableClock();
  } catch (error) {
    console.warn(`SKIPPED: Redis' clock cannot be set here, so its steps are not tested: ${String(error)}`);
    return undefined;
  }
}

const clock = prepareClock();
const describeWithClock = clock ? describe : describe.skip;

describeWithClock("setting Redis' clock", () => {
  const scene = new Scene({ env: clock?.env ?? {} });
  afterAll(() => clock?.remove());
  beforeEach(() => clock!.set(0));

  const serverTime = async () => Number((await scene.redis.time())[0]) * 1000;

  async function startQueue({ checkInterval = CHECK_INTERVAL } = {}) {
    const queue = scene.newQueue();
    const handled = new Handled();
    const release = new Latch();
    const handler = handlerOf(queue, async (payload, message) => {
      handled.record(payload, message);
      if (payload === 'held') await release.opened;
      if (payload === 'fails' && message.attempt === 1) throw new Error('no');
    });
    const backoff = { type: 'fixed', delay: 100 } as const;
    const defaults = { blockTimeout: BLOCK_TIMEOUT, checkInterval, lease: LEASE, backoff };
    const { producer, log } = await scene.startApp({ module: { defaults }, providers: [handler] });
    await until(async () => /name=delay-queue:wake-signals.*cmd=blpop/.test(String(await scene.redis.client('LIST'))));
    const isGone = async (id: string) => (await producer.find(queue, id)) === null;
    return { queue, handled, release, producer, log, isGone };
  }

  /** Offers messages one after the other, and expects each to be handled soon after its delay. */
  async function expectPunctuality({ queue, producer, handled }: Awaited<ReturnType<typeof startQueue>>) {
    for (const id of ['a', 'b', 'c']) {
      const offeredAt = performance.now();
      await producer.offer(queue, null, 300, { id });
      await handled.until(id, { within: 300 + SLACK });
      expect(performance.now() - offeredAt).toBeGreaterThanOrEqual(300);
    }
  }

  test('forward by an hour makes messages due, which are handled within a check interval, and keeps new ones on time', async () => {
    const scenery = await startQueue();
    const { queue, handled, producer } = scenery;
    await producer.offer(queue, null, '30m', { id: 'skipped over' });
    const before = await serverTime();
    clock!.set(HOUR);
    expect(await serverTime()).toBeGreaterThanOrEqual(before + HOUR * 1000);
    const start = performance.now();
    await handled.until('skipped over', { within: CHECK_INTERVAL + SLACK });
    console.log(`due by a step of the clock: handled after ${Math.round(performance.now() - start)} ms`);
    await expectPunctuality(scenery);
    await until(() => isEmpty(producer, queue));
    expect(handled.calls.every(({ attempt }) => attempt === 1)).toBe(true);
  });

  test('back by an hour delays messages that were nearly due, but new ones are handled after their delays', async () => {
    const scenery = await startQueue();
    const { queue, handled, producer } = scenery;
    await producer.offer(queue, null, '10s', { id: 'waits' });
    clock!.set(-HOUR);
    await expectPunctuality(scenery);
    expect(await producer.find(queue, 'waits')).toMatchObject({ state: 'delayed' });
    expect((await producer.nextDue(queue))!.getTime()).toBeGreaterThan((await serverTime()) + (HOUR / 2) * 1000);
    clock!.set(HOUR);
    await handled.until('waits', { within: CHECK_INTERVAL + SLACK });
    await until(() => isEmpty(producer, queue));
    expect(handled.ids).toEqual(['a', 'b', 'c', 'waits']);
  });

  test('back by an hour makes the consumer give up a BLPOP that Redis would block for an hour', async () => {
    // A check by the scheduler would send a wake-up signal for ready messages.
    const { queue, handled, producer, log } = await startQueue({ checkInterval: 60_000 });
    await producer.offer(queue, null, '1h', { id: 'm' });
    clock!.set(-HOUR);
    const start = performance.now();
    // Makes the message ready without a wake-up signal.
    await scene.redis.multi().zrem(scene.key(queue, 'delayed'), 'm').rpush(scene.key(queue, 'ready'), 'm').exec();
    await handled.until('m', { within: BLOCK_TIMEOUT + 5000 + SLACK });
    const took = Math.round(performance.now() - start);
    console.log(`a message whose token was lost, with the clock set back: handled after ${took} ms`);
    expect(log).toContainEqual(expect.stringMatching(/wake-signals is down: no answer within (59\d\d|6000) ms/));
  });

  test.each([
    [HOUR, [[1], [1, 2]]],
    [-HOUR, [[1]]],
  ])(
    'by %d s while a handler runs still lets its message be settled and a failed message be retried',
    async (step, attempts) => {
      const { queue, handled, release, producer, isGone } = await startQueue();
      await producer.offer(queue, 'held', 0, { id: 'held' });
      await handled.until('held');
      clock!.set(step);
      // By the clock after the step. If it went forward, the lease may have ended, and another attempt runs.
      const isLeased = async () => {
        const held = await producer.find(queue, 'held');
        const left = Number(held?.leasedUntil) - (await serverTime());
        return left > 0 && left <= LEASE + 1000;
      };
      await until(isLeased, { within: LEASE + SLACK });
      await producer.offer(queue, 'fails', 0, { id: 'fails' });
      await until(() => handled.of('fails').length === 2);
      release.open();
      await until(async () => (await isGone('held')) && (await isGone('fails')) && (await isEmpty(producer, queue)));
      expect(attempts).toContainEqual(handled.of('held').map(({ attempt }) => attempt));
    },
  );

  test('back and forth under steady load loses no messages', async () => {
    const { queue, handled, producer } = await startQueue();
    const ids: string[] = [];
    for (const step of [HOUR, 0, -HOUR, 0, HOUR]) {
      clock!.set(step);
      for (let i = 0; i < 40; i++) {
        ids.push((await producer.offer(queue, null, i * 7)).id);
        await sleep(5);
      }
    }
    await until(() => isEmpty(producer, queue), { within: CHECK_INTERVAL + LEASE + SLACK });
    expect(new Set(handled.ids)).toEqual(new Set(ids));
  });
});
