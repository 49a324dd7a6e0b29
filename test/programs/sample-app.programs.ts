import { type AddressInfo, createServer } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { until } from '../support/until.js';
import { SampleApp } from './sample-app.process.js';

jest.setTimeout(60_000);

/** The maximum time for a message on a busy machine, instead of a few milliseconds. */
const LATEST = 2000;

describe('the sample shop', () => {
  let redis: TestRedis;
  let shop: SampleApp;

  beforeAll(async () => {
    redis = await startRedis();
    shop = await SampleApp.start({ REDIS_URL: redis.url });
  });

  afterAll(async () => {
    await shop.end();
    await redis.stop();
  });

  it('uses the Redis at REDIS_URL and logs it', () => {
    expect(shop.log).toContain(`Store: Redis at ${redis.url}`);
  });

  it('cancels an unpaid order when its time is up and notifies the pages', async () => {
    const page = await shop.listen();
    const id = await shop.place({ item: 'Tea', payWithin: '300ms' });
    await page.until('order', { id, status: 'unpaid' });
    const { data, receivedAt } = await page.until('order', { id, status: 'cancelled' });
    page.close();

    const dueAt = Date.parse(String(data.dueAt));
    // Due times are rounded up to the millisecond, so that nothing is early.
    expect(dueAt - Date.parse(String(data.placedAt))).toBeLessThanOrEqual(301);
    expect(Date.parse(String(data.settledAt)) - dueAt).toBeGreaterThanOrEqual(0);
    expect(receivedAt - dueAt).toBeLessThan(LATEST);
  });

  it('logs user input without terminal control sequences', async () => {
    const typed = 'Tea\u001b[2J\u009b\u202e\u2066\u200f\u0007!';
    await shop.place({ item: typed, payWithin: 0 });
    await shop.post(`/add?delay=1ms&task=${encodeURIComponent(typed)}`);
    const shown = String.raw`Tea\u{1b}[2J\u{9b}\u{202e}\u{2066}\u{200f}\u{7}!`;
    await until(() => shop.log.split(shown).length === 3);
    expect(shop.log).not.toContain('\u001b[2J');
  });

  it('never cancels a paid order', async () => {
    const page = await shop.listen();
    const id = await shop.place({ payWithin: '300ms' });
    const { status, body } = await shop.post(`/orders/${id}/pay`);
    expect({ status, body }).toMatchObject({ status: 200, body: { id, status: 'paid' } });

    const later = await shop.place({ payWithin: '400ms' });
    await page.until('order', { id: later, status: 'cancelled' });
    page.close();
    expect(page.of('order').filter(({ data }) => data.id === id && data.status === 'cancelled')).toEqual([]);
    expect((await shop.get(`/orders/${id}`)).body).toMatchObject({ status: 'paid' });
  });

  it('answers a second payment in the same way as the first', async () => {
    const id = await shop.place({});
    const first = await shop.post(`/orders/${id}/pay`);
    const second = await shop.post(`/orders/${id}/pay`);
    expect(second).toEqual(first);
  });

  it('refuses payment for a cancelled order', async () => {
    const id = await shop.place({ payWithin: 0 });
    await until(async () => (await shop.get(`/orders/${id}`)).body.status === 'cancelled');
    const { status, body } = await shop.post(`/orders/${id}/pay`);
    expect(status).toBe(409);
    expect(body.message).toContain('cancelled');
  });

  it('lets either the payment or the timeout win, never both', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const page = await shop.listen();
        const id = await shop.place({ payWithin: 30 });
        const { data } = await page.until('order', { id, status: 'unpaid' });
        await sleep(Date.parse(String(data.dueAt)) - Date.now());
        const paid = (await shop.post(`/orders/${id}/pay`)).status === 200;
        const final = paid ? 'paid' : 'cancelled';
        await page.until('order', { id, status: final });
        page.close();
        expect((await shop.get(`/orders/${id}`)).body.status).toBe(final);
        return page
          .of('order')
          .flatMap(({ data }) => (data.id === id && data.status !== 'unpaid' ? [data.status] : []));
      }),
    );
    // The same outcome may be announced twice.
    expect(outcomes.map((reported) => new Set(reported).size)).toEqual(outcomes.map(() => 1));
  });

  it('answers 404 for an unknown order', async () => {
    expect((await shop.get('/orders/none')).status).toBe(404);
    expect((await shop.post('/orders/none/pay')).status).toBe(404);
  });

  it.each([{ payWithin: '5 parsecs' }, { payWithin: -1 }, { payWithin: 1.5 }, { payWithin: null }, { payWithin: {} }])(
    'refuses an order with a payWithin of $payWithin and says why',
    async (order) => {
      const before = await shop.get('/orders');
      const { status, body } = await shop.post('/orders', order);
      expect(status).toBe(400);
      expect(body).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('delay') });
      expect(await shop.get('/orders')).toEqual(before);
    },
  );

  it.each([{ item: '' }, { item: 5 }, { item: 'x'.repeat(101) }])(
    'refuses an order with an invalid item: %j',
    async (order) => {
      expect((await shop.post('/orders', order)).status).toBe(400);
    },
  );

  it('lists the newest order first', async () => {
    const ids = [await shop.place({}), await shop.place({}), await shop.place({})];
    const { body } = await shop.get('/orders');
    expect((body as unknown as { id: string }[]).slice(0, 3).map(({ id }) => id)).toEqual(ids.reverse());
  });

  it('performs a task when it is due and shows it', async () => {
    const page = await shop.listen();
    const { status, body } = await shop.post('/add?task=sanyou&delay=200ms');
    expect({ status, body }).toMatchObject({ status: 201, body: { task: 'sanyou', doneAt: null } });
    await page.until('task', { id: body.id, doneAt: null });
    await page.until('counts');
    await until(() => page.of('task').some(({ data }) => data.id === body.id && data.doneAt !== null));
    page.close();
    expect(shop.log).toContain('Task due: sanyou');
  });

  it('performs a task added through the address bar after five seconds by default', async () => {
    const askedAt = Date.now();
    const { status, body } = await shop.get('/add?task=sanyou');
    expect({ status, body }).toMatchObject({ status: 200, body: { task: 'sanyou', doneAt: null } });
    const page = await shop.listen();
    await until(() => page.of('task').some(({ data }) => data.id === body.id && data.doneAt !== null), {
      within: 10_000,
    });
    const { dueAt } = page.of('task').at(-1)!.data;
    expect(Date.parse(String(dueAt)) - askedAt).toBeGreaterThanOrEqual(4900);
    expect(Date.parse(String(dueAt)) - askedAt).toBeLessThan(7000);
    page.close();
  });

  it('refuses a task without text or with an invalid delay', async () => {
    expect((await shop.post('/add')).status).toBe(400);
    expect((await shop.get('/add')).status).toBe(400);
    expect((await shop.post('/add?task=x&delay=soon')).status).toBe(400);
  });

  it('notifies the pages of every process on the same Redis', async () => {
    const other = await SampleApp.start({ REDIS_URL: redis.url });
    const page = await other.listen();
    const id = await shop.place({ payWithin: '10m' });
    await page.until('order', { id, status: 'unpaid' });
    await shop.post(`/orders/${id}/pay`);
    const { data } = await page.until('order', { id, status: 'paid' });
    expect(data.item).toBe('A surprise');
    page.close();
    await other.end();
  });
});

describe('the sample shop without its Redis or its port', () => {
  it('sends a new snapshot and recovers after an outage of its Redis', async () => {
    const redis = await startRedis({ args: ['--appendonly', 'yes'] });
    const shop = await SampleApp.start({ REDIS_URL: redis.url });
    const page = await shop.listen();
    const id = await shop.place({ payWithin: '2s' });
    await redis.restart();
    await until(() => page.of('snapshot').length > 1, { within: 30_000 });
    const { data } = await page.until('order', { id, status: 'cancelled' }, 10_000);
    expect(Date.parse(String(data.settledAt))).toBeGreaterThanOrEqual(Date.parse(String(data.dueAt)));
    page.close();
    await shop.end();
    await redis.stop();
  });

  it('refuses orders while its Redis is down and says why', async () => {
    const redis = await startRedis();
    const shop = await SampleApp.start({ REDIS_URL: redis.url });
    await redis.kill9();
    const { status, body } = await shop.post('/orders', {});
    expect(status).toBe(503);
    expect(body.message).toBe('The shop cannot reach its Redis; try again later');
    await shop.end();
    await redis.stop();
  });

  it('runs in memory without Redis and says what that means', async () => {
    const shop = await SampleApp.start();
    expect(shop.log).toContain('Store: memory: orders and messages are lost when this process ends');
    const page = await shop.listen();
    const id = await shop.place({ payWithin: '100ms' });
    await page.until('order', { id, status: 'cancelled' });
    page.close();
    await shop.end();
  });

  it('names a port that is in use and suggests a fix', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const shop = new SampleApp({ PORT: String(port) });
    expect(await shop.exited()).toBe(1);
    server.close();
    expect(shop.log.trim().split('\n').at(-1)).toBe(
      `Port ${port} is in use. Choose another: PORT=${port + 1} npm start`,
    );
  });

  it('names the Redis that it cannot reach', async () => {
    const shop = new SampleApp({ REDIS_URL: 'redis://user:secret@127.0.0.1:1' });
    expect(await shop.exited()).toBe(1);
    expect(shop.log).toBe('No Redis answers at redis://127.0.0.1:1 (REDIS_URL): connect ECONNREFUSED 127.0.0.1:1\n');
  });
});
