import { describe, expect, test } from '@jest/globals';
import type { GroupOptions } from '../support/of-group.js';
import { offerInParts } from '../support/offer-in-parts.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** The number of groups, each with one message. */
const GROUPS = Number(process.env.MANY_GROUPS ?? 100_000);
const ROUNDS = 2;
/** Enough for the code to be compiled. */
const WARM_UP = 20_000;
/** How fast they are handled at least, compared with messages without groups. */
const LEAST_SPEED = 0.4;
/** The memory that may remain, in bytes: Redis keeps buffers and scripts. */
const MAX_LEFT = 2 * 1024 * 1024;

const ON: GroupOptions = { concurrency: 1 };

interface Room {
  readonly bytes: number;
  readonly keys: number;
}

describe(`${GROUPS.toLocaleString('en')} groups of one message each`, () => {
  const scene = new Scene({});

  async function room(): Promise<Room> {
    const info = await scene.redis.info('memory');
    return { bytes: Number(/^used_memory:(\d+)/m.exec(info)![1]), keys: await scene.redis.dbsize() };
  }

  /** Offers messages that are due at once, and then handles them. Returns how many were handled in a second, and what they took. */
  async function drain(count: number, groups: GroupOptions | 'off'): Promise<{ speed: number; full: Room }> {
    const queue = scene.newQueue();
    const module = { queues: { [queue]: { groups, concurrency: 64 } } };
    const clerk = await scene.startApp({ module: { ...module, consume: false } });
    const offers = Array.from({ length: count }, (_, i) => ({
      ...{ id: `m${i}`, payload: null, delay: 0 },
      ...(groups !== 'off' && { group: `customer-${i}` }),
    }));
    await offerInParts(clerk.producer, queue, offers);
    const full = await room();
    let handled = 0;
    const began = performance.now();
    const app = await scene.startApp({ module, providers: [handlerOf(queue, () => void handled++)] });
    await until(() => handled >= count, { within: 600_000, every: 10 });
    const speed = (1000 * count) / (performance.now() - began);
    await until(async () => Object.values(await app.producer.counts(queue)).every((number) => number === 0));
    expect(handled).toBe(count);
    await Promise.all([app.close(), clerk.close()]);
    return { speed, full };
  }

  test('are handled at no less than 40% of the speed of messages without groups, and leave almost nothing in Redis', async () => {
    await drain(WARM_UP, 'off');
    await drain(WARM_UP, ON);
    const before = await room();
    const ratios: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const plain = await drain(GROUPS, 'off');
      const grouped = await drain(GROUPS, ON);
      ratios.push(grouped.speed / plain.speed);
      const bytesOf = ({ full }: { full: Room }) => Math.round((full.bytes - before.bytes) / GROUPS);
      console.log(
        `handled ${Math.round(plain.speed)}/s without and ${Math.round(grouped.speed)}/s with groups: ` +
          `× ${ratios.at(-1)!.toFixed(2)}; ${bytesOf(plain)} and ${bytesOf(grouped)} bytes per message`,
      );
    }
    let after = await room();
    const isFreed = async () => {
      after = await room();
      return after.bytes - before.bytes <= MAX_LEFT;
    };
    await until(isFreed, { within: 10_000, every: 100 }).catch(() => undefined);
    console.log(
      `memory before ${before.bytes} bytes in ${before.keys} keys, after it ${after.bytes} bytes in ${after.keys} keys`,
    );
    expect(Math.max(...ratios)).toBeGreaterThanOrEqual(LEAST_SPEED);
    expect(after.bytes - before.bytes).toBeLessThanOrEqual(MAX_LEFT);
    // The remains of a queue do not depend on the number of groups.
    expect(after.keys - before.keys).toBeLessThanOrEqual(ROUNDS * 2);
  }, 1_800_000);
});
