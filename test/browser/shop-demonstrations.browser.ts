import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { PageClient } from '../support/board/page-client.js';
import { CommandCount } from '../support/command-count.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { until } from '../support/until.js';
import type { EventReader } from '../programs/sample-app.events.js';
import { SampleApp } from '../programs/sample-app.process.js';

jest.setTimeout(60_000);

type Store = 'Redis' | 'memory';

interface Batch {
  readonly id: string;
  readonly cancelled: number;
  readonly took: number | null;
  readonly lateness: Readonly<Record<string, number>>;
}

describe.each<Store>(['Redis', 'memory'])("the sample shop's demonstrations, on %s", (store) => {
  let redis: TestRedis | undefined;
  let shop: SampleApp;
  let page: EventReader;

  beforeAll(async () => {
    redis = store === 'Redis' ? await startRedis() : undefined;
    shop = await SampleApp.start(redis ? { REDIS_URL: redis.url } : {});
    page = await shop.listen();
  });

  afterEach(async () => {
    await shop.post('/controls/mend');
    await shop.post('/controls/resume');
  });

  afterAll(async () => {
    page.close();
    await shop.end();
    await redis?.stop();
  });

  const latest = (type: string) => page.of(type).at(-1)?.data;
  const orderCounts = () => (latest('counts') as { orders: Record<string, number> } | undefined)?.orders;

  const waiting = () => {
    const { delayed = 0, ready = 0, active = 0 } = orderCounts() ?? {};
    return delayed + ready + active;
  };

  it("report the lateness of each cancelled order's message, and none for a paid order", async () => {
    const id = await shop.place({ payWithin: '200ms' });
    const { data } = await page.until('order', { id, status: 'cancelled' });
    expect(data.lateBy).toBe(Date.parse(String(data.settledAt)) - Date.parse(String(data.dueAt)));
    expect(data.lateBy).toBeGreaterThanOrEqual(0);
    await until(() => (latest('figures') as { lateness: { count: number } }).lateness.count > 0);

    const paid = await shop.place({ payWithin: '10m' });
    await shop.post(`/orders/${paid}/pay`);
    expect((await page.until('order', { id: paid, status: 'paid' })).data.lateBy).toBeNull();
  });

  it('cancel a thousand orders due together, list a few of them and report their lateness', async () => {
    const { status, body: batch } = await shop.post('/orders/batch');
    expect({ status, batch }).toMatchObject({ status: 201, batch: { size: 1000 } });
    const tea = await shop.place({ item: 'Tea', payWithin: '10m' });
    const progress = () => (latest('figures') as { batch: Batch | null }).batch!;
    await until(() => progress().id === batch.id && progress().took !== null, { within: 20_000 });

    console.log(`A thousand due at once, on ${store}: cancelled within ${progress().took} ms`);
    expect(progress().cancelled).toBe(1000);
    expect(progress().lateness.count).toBe(1000);
    expect(progress().lateness.p99).toBeGreaterThanOrEqual(progress().lateness.p50!);
    expect(progress().took).toBeGreaterThanOrEqual(progress().lateness.p99!);
    const listed = (await shop.get('/orders')).body as unknown as { id: string; batch: string; status: string }[];
    expect(listed.filter((order) => order.batch === batch.id).map((order) => order.status)).toEqual(
      Array.from({ length: 3 }, () => 'cancelled'),
    );
    expect(listed.map(({ id }) => id)).toContain(tea);
    // Orders that no page lists are not announced.
    expect(page.of('order').filter(({ data }) => data.batch === batch.id && !data.listed)).toEqual([]);
    await until(() => orderCounts()!.done! >= 1000);
  });

  const figures = () =>
    latest('figures') as { lateness: { count: number }; heldUp: number; batch: (Batch & { heldUp: number }) | null };

  it.each(['the page', 'the board'])(
    'do not count an order as late if a pause started on %s has delayed it',
    async (by) => {
      const board = new PageClient(`${shop.url}/board`);
      const ask = (what: 'pause' | 'resume') =>
        by === 'the page' ? shop.post(`/controls/${what}`) : board.post(`i/-/queues/orders/${what}`, {});
      // Each page is told the figures in its first event; later ones come only when they change.
      const fresh = await shop.listen();
      const { lateness, heldUp } = fresh.of('snapshot')[0]!.data.figures as ReturnType<typeof figures>;
      fresh.close();
      await ask('pause');
      await page.until('switches', { paused: true });
      const held = await shop.place({ payWithin: 0 });
      const { body: batch } = await shop.post('/orders/batch');
      await until(() => waiting() >= 1001 && orderCounts()?.ready === 1001, { within: 20_000 });
      await ask('resume');
      expect((await page.until('order', { id: held, status: 'cancelled' })).data.heldUp).toBe(true);
      await until(() => figures().batch?.id === batch.id && figures().batch?.took !== null, { within: 20_000 });
      expect(figures().heldUp).toBe(heldUp + 1);
      expect(figures().lateness.count).toBe(lateness.count);
      expect(figures().batch).toMatchObject({ cancelled: 1000, heldUp: 1000, lateness: { count: 0 } });
      await until(() => page.of('switches').at(-1)?.data.paused === false);
      const next = await shop.place({ payWithin: 0 });
      expect((await page.until('order', { id: next, status: 'cancelled' })).data.heldUp).toBe(false);
      await until(() => figures().lateness.count === lateness.count + 1);
      expect(figures().heldUp).toBe(heldUp + 1);
    },
  );

  (store === 'Redis' ? it : it.skip)('spend few calls of Redis on the orders of a batch', async () => {
    const redisOfShop = new Redis(redis!.url);
    const counted = await CommandCount.start(redisOfShop);
    const { body: batch } = await shop.post('/orders/batch');
    await until(() => figures().batch?.id === batch.id, { within: 20_000 });
    const placing = await counted.stop();
    await until(() => figures().batch?.took !== null, { within: 20_000 });
    const { eval: scripts = 0, publish = 0, hmget = 0 } = await counted.stop();
    redisOfShop.disconnect();
    // Scripts of the delay queue are called by their digest, and it publishes and looks up little.
    const calls = { settling: scripts - (placing.eval ?? 0), publish, hmget };
    console.log(`A thousand orders due at once took the shop ${JSON.stringify(calls)}`);
    for (const count of Object.values(calls)) expect(count).toBeLessThan(300);
  });

  it('refuse orders beyond 5,000 messages and say why', async () => {
    await shop.post('/controls/pause');
    for (let thousands = 1; thousands <= 5; thousands++) await shop.post('/orders/batch');
    await until(() => waiting() === 5000);
    const { status, body } = await shop.post('/orders/batch');
    expect({ status, body }).toMatchObject({ status: 429, body: { code: 'QUEUE_FULL' } });
    expect(await shop.post('/orders', {})).toMatchObject({ status: 429, body: { code: 'QUEUE_FULL' } });
    await shop.post('/controls/resume');
    // Only the tea of an earlier test still waits.
    await until(() => waiting() === 1, { within: 20_000 });
  });

  it('retry while the handler fails, keep the dead letter, and handle the message after it is redriven', async () => {
    await shop.post('/controls/fail');
    await page.until('switches', { failing: true });
    const id = await shop.place({ payWithin: 0 });
    const others = [await shop.place({ payWithin: 0 }), await shop.place({ payWithin: 0 })];
    await page.until('order', { id, status: 'unpaid', failedAttempts: 1 });
    await page.until('order', { id, status: 'unpaid', failedAttempts: 4 }, 10_000);
    await until(() => orderCounts()?.dead === 3);
    const letters = (latest('counts') as { deadOrders: Record<string, unknown>[] }).deadOrders;
    const letter = letters.find(({ orderId }) => orderId === id)!;
    expect(letter).toMatchObject({ failedAttempts: 4, error: 'The handler is switched to fail' });

    await shop.post('/controls/mend');
    expect(await shop.post(`/dead-letters/${String(letter.id)}/redrive`)).toMatchObject({ status: 200 });
    const { data } = await page.until('order', { id, status: 'cancelled' });
    // Lateness counts from its new due time, not from the first one.
    expect(data.lateBy).toBeLessThan(2000);
    expect((await shop.post(`/dead-letters/${String(letter.id)}/redrive`)).status).toBe(404);
    expect((await shop.post('/dead-letters/redrive')).body).toEqual({ redriven: 2 });
    for (const other of others) await page.until('order', { id: other, status: 'cancelled' });
  });

  it('discard dead letters and leave their orders unchanged', async () => {
    await shop.post('/controls/fail');
    const id = await shop.place({ payWithin: 0 });
    await until(() => orderCounts()?.dead === 1, { within: 15_000 });
    expect((await shop.post('/dead-letters/discard')).body).toEqual({ discarded: 1 });
    await until(() => orderCounts()?.dead === 0);
    expect((await shop.get(`/orders/${id}`)).body.status).toBe('unpaid');
  });

  it('no longer show the dead letter of an order once it is discarded', async () => {
    const redrivable = () => (latest('counts') as { redrivable: string[] }).redrivable;
    await shop.post('/controls/fail');
    const first = await shop.place({ payWithin: 0 });
    await until(() => redrivable().includes(first), { within: 15_000 });
    await shop.post('/dead-letters/discard');
    const second = await shop.place({ payWithin: 0 });
    await until(() => redrivable().includes(second), { within: 15_000 });
    expect(redrivable()).toEqual([second]);
    await shop.post('/dead-letters/discard');
  });

  it("send each customer's emails in order, round-robin across customers", async () => {
    const mails = () => page.of('trial').filter(({ data }) => data.trial === 'mails' && data.lateBy !== undefined);
    await shop.post('/trials/mails/offer');
    await until(() => mails().length === 7, { within: 30_000 });
    const order = mails().map(({ data }) => Number(/\d/.exec(String(data.text))![0]));
    expect(order).toEqual([1, 5, 7, 2, 6, 3, 4]);
  });

  it('repeat a reminder at the seconds specified by its calendar', async () => {
    const blinks = () => page.of('trial').filter(({ data }) => data.text === 'Blink');
    await shop.post('/trials/reminders/start');
    await until(() => blinks().length >= 2, { within: 30_000 });
    await shop.post('/trials/reminders/stop');
    const times = blinks().map(({ data }) => Date.parse(String(data.at)));
    expect(times).toEqual(times.map((_, i) => times[0]! + i * 2000));
    expect(times[0]! % 2000).toBe(0);
  });

  it('cancel nothing while the queue is paused, and continue when it is resumed', async () => {
    expect((await shop.post('/controls/pause')).body).toMatchObject({ paused: true });
    const id = await shop.place({ payWithin: 0 });
    await until(() => orderCounts()?.ready === 1);
    const late = await shop.listen();
    expect(late.of('snapshot')[0]!.data.switches).toMatchObject({ paused: true });
    late.close();
    expect((await shop.get(`/orders/${id}`)).body.status).toBe('unpaid');
    await shop.post('/controls/resume');
    await page.until('order', { id, status: 'cancelled' });
  });
});

describe('the worker that the sample shop freezes', () => {
  interface Parcel {
    readonly number: number;
    readonly state: string;
    readonly attempt: number;
    readonly pid: number;
  }

  it('loses its parcels to the shop, which packs each one once, and leaves no process behind', async () => {
    const redis = await startRedis();
    const shop = await SampleApp.start({ REDIS_URL: redis.url });
    const page = await shop.listen();
    const { status, body: begun } = await shop.post('/worker/freeze');
    expect(status).toBe(202);
    expect((await shop.post('/worker/freeze')).status).toBe(409);
    const { data: frozen } = await page.until('frozen-worker', { run: begun.run, phase: 'frozen' }, 20_000);
    await page.until('frozen-worker', { run: begun.run, phase: 'done' }, 20_000);
    page.close();

    const parcels = page.of('parcel').map(({ data }) => data as unknown as Parcel);
    const packed = parcels.filter(({ state }) => state === 'packed');
    const held = parcels.filter(({ state, pid }) => state === 'packing' && pid === frozen.worker);
    expect(held.length).toBeGreaterThan(0);
    expect(packed.map(({ number }) => number).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(packed.every(({ pid }) => pid === frozen.shop)).toBe(true);
    for (const { number } of held) expect(packed.find((parcel) => parcel.number === number)!.attempt).toBe(2);
    await until(() => !isRunning(Number(frozen.worker)));
    await shop.end();
    await redis.stop();
  });

  it.each(['SIGKILL', 'SIGTERM'] as const)('ends with the shop even while it is frozen (%s)', async (signal) => {
    const redis = await startRedis();
    const shop = await SampleApp.start({ REDIS_URL: redis.url });
    const page = await shop.listen();
    await shop.post('/worker/freeze');
    const { data } = await page.until('frozen-worker', { phase: 'frozen' }, 20_000);
    expect(isRunning(Number(data.worker))).toBe(true);
    await shop.end(signal);
    await until(() => !isRunning(Number(data.worker)));
    page.close();
    await redis.stop();
  });

  it('does not exist with the memory store, and the response explains why', async () => {
    const shop = await SampleApp.start();
    const { status, body } = await shop.post('/worker/freeze');
    expect(status).toBe(503);
    expect(body.message).toContain('needs Redis');
    await shop.end();
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
