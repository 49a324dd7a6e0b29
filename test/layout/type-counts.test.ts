import { beforeEach, describe, expect, test } from '@jest/globals';
import { nativeCodec } from '../../lib/message/codec/native-codec.js';
import type { Claim } from '../../lib/store/consumer-store.js';
import type { TypeCountPage } from '../../lib/store/admin-store.js';
import { type ContractQueue, ContractQueues, HOUR, numberedIds } from '../contract/contract-queue.js';
import { openRedisQueue } from '../contract/redis-queue.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { NativeMessageStore } from '../../lib/store/native/native-store.js';

/** A little more than two pages. */
const COUNT = 510;
const PAGE = 250;

describe('counting types page by page, while messages move', () => {
  const queues = new ContractQueues((limits) =>
    Promise.resolve(
      openRedisQueue(
        (connections, queue) => new NativeMessageStore(connections, { keys: nativeKeys('delay-queue', queue), limits }),
      ),
    ),
  );
  let queue: ContractQueue;
  const ids = numberedIds(COUNT);

  beforeEach(async () => {
    queue = await queues.open({ maxDeadLetters: COUNT });
  });

  /** Offers messages that are of the type `moves` if they are going to move, and of the type `stays` otherwise. */
  async function offer(isMoving: (index: number) => boolean, due: (index: number) => number): Promise<void> {
    const body = (type: string) => nativeCodec.encode({ type, payload: 1, headers: {} });
    await queue.store.offer(
      ids.map((id, i) => ({
        id,
        due: { at: due(i) },
        onDuplicate: 'reject',
        body: body(isMoving(i) ? 'moves' : 'stays'),
      })),
    );
  }

  /** Walks through the queue. Returns how many messages of the type `stays` were counted. */
  async function countStaying(afterFirstPage: () => Promise<unknown>): Promise<number> {
    const pages: TypeCountPage[] = [await queue.store.countTypes()];
    expect(pages[0]!.cursor).not.toBeNull();
    await afterFirstPage();
    for (let cursor = pages[0]!.cursor; cursor !== null; cursor = pages.at(-1)!.cursor) {
      pages.push(await queue.store.countTypes(cursor));
    }
    const rows = pages.flatMap(({ counts }) => counts).filter(({ type }) => type === 'stays');
    return rows.reduce((sum, { count }) => sum + count, 0);
  }

  /** The last message of the first page, and some before and after it. */
  const aroundTheEnd = (i: number) => i > PAGE - 4 && i < PAGE + 3;

  test.each([
    ['in the same millisecond', () => 9e12],
    ['in different milliseconds', (i: number) => 9e12 + i],
  ])('counts each remaining delayed message once if the messages are due %s', async (_, due) => {
    await offer(aroundTheEnd, due);
    const cancelThem = () => Promise.all(ids.filter((_id, i) => aroundTheEnd(i)).map((id) => queue.store.cancel(id)));
    expect(await countStaying(cancelThem)).toBe(COUNT - 6);
  });

  test.each([
    ['a few others', 3],
    ['all that were counted and more', PAGE + 20],
  ])('counts each remaining ready message once, even if %s are claimed', async (_, claimed) => {
    await offer(
      (i) => i < claimed,
      () => 1,
    );
    await queue.transfer();
    expect(await countStaying(() => queue.claim(claimed))).toBe(COUNT - claimed);
  });

  test.each([1, 2, 3, 4])(
    'counts each remaining ready message once, even if others are released: %d',
    async (count) => {
      await offer(
        (i) => i < count,
        () => 1,
      );
      await queue.transfer();
      const claims = await queue.claim(count);
      const release = () =>
        queue.store.settle(claims.map((claim) => ({ claim, outcome: { kind: 'release' as const } })));
      expect(await countStaying(release)).toBe(COUNT - count);
    },
  );

  test('counts each remaining ready message once, even if the last on a page is replaced', async () => {
    const isLast = (i: number) => i === PAGE - 1;
    await offer(isLast, () => 1);
    await queue.transfer();
    const replaceIt = () => queue.offer(ids[PAGE - 1]!, { after: HOUR }, { onDuplicate: 'replace' });
    expect(await countStaying(replaceIt)).toBe(COUNT - 1);
  });

  test('counts each remaining active message once, even if leases are extended and others settled', async () => {
    await offer(
      (i) => i % 2 === 0,
      () => 1,
    );
    await queue.transfer();
    const claims: Claim[] = [];
    for (let left = COUNT; left > 0; left -= 10) claims.push(...(await queue.claim(10)));
    const settleAndExtend = async () => {
      const [moving, staying] = [0, 1].map((rest) => claims.filter(({ id }) => ids.indexOf(id) % 2 === rest));
      await queue.store.settle(moving!.map((claim) => ({ claim, outcome: { kind: 'ack' as const } })));
      await queue.store.extend(staying!.slice(100), 2 * HOUR);
    };
    expect(await countStaying(settleAndExtend)).toBe(COUNT / 2);
  });

  test('counts each remaining dead letter once, even if others are redriven', async () => {
    await offer(aroundTheEnd, () => 1);
    await queue.transfer();
    const claims = await queue.claim();
    await queue.store.settle(claims.map((claim) => ({ claim, outcome: { kind: 'dead' as const, error: '{}' } })));
    const redriveThem = () =>
      Promise.all(ids.filter((_id, i) => aroundTheEnd(i)).map((id) => queue.store.redrive({ id })));
    expect(await countStaying(redriveThem)).toBe(COUNT - 6);
  });

  test('misses none of the messages that are transferred', async () => {
    await offer(
      () => false,
      () => 1,
    );
    expect(await countStaying(() => queue.transfer())).toBeGreaterThanOrEqual(COUNT);
  });

  test('ends a page early if messages are large', async () => {
    const body = nativeCodec.encode({ type: 'large', payload: 'x'.repeat(100_000), headers: {} });
    await queue.store.offer(ids.slice(0, 20).map((id) => ({ id, due: { after: HOUR }, onDuplicate: 'reject', body })));
    const page = await queue.store.countTypes();
    expect(page).toEqual({
      counts: [{ state: 'delayed', type: 'large', count: 5 }],
      cursor: expect.stringMatching(/./),
    });
  });
});
