import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { MessageView, QueueListView } from 'nestjs-delay-queue-board';
import { PageClient } from '../support/board/page-client.js';
import { until } from '../support/until.js';
import { SampleApp } from './sample-app.process.js';

jest.setTimeout(60_000);

const JSON_BODY = { 'content-type': 'application/json' };

describe('requests to the sample shop', () => {
  let shop: SampleApp;

  beforeAll(async () => {
    shop = await SampleApp.start();
  });

  afterAll(async () => {
    await shop.end();
  });

  /** Sends exactly these headers, including the Host, which `fetch` would choose itself. */
  async function send(
    method: string,
    path: string,
    { headers = {}, body, to = shop }: { headers?: Record<string, string>; body?: string; to?: SampleApp } = {},
  ): Promise<{ status: number | undefined; message: string }> {
    const sent = request(to.url + path, { method, agent: false, headers });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    // An event stream never ends.
    if (response.headers['content-type']?.startsWith('text/event-stream')) {
      sent.destroy();
      return { status: response.statusCode, message: '' };
    }
    let text = '';
    for await (const chunk of response) text += String(chunk);
    const message = text.startsWith('{') ? String((JSON.parse(text) as Record<string, unknown>).message) : text;
    return { status: response.statusCode, message };
  }

  it('for its health and its metrics are answered', async () => {
    const { body, status } = await shop.get('/health');
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'ok', details: { 'delay-queue': { status: 'up', queues: { orders: {} } } } });
    await shop.post('/orders', { payWithin: 0 });
    const metrics = async () => (await send('GET', '/metrics')).message;
    await until(async () => /^messaging_process_duration_count\{.*"orders".*\} [1-9]/m.test(await metrics()));
    const measured = (await metrics()).matchAll(/^delay_queue_queue_paused\{.*?destination_name="(\w+)".*\} 0$/gm);
    expect([...measured].map(([, queue]) => queue).sort()).toEqual(await handledQueues());
  });

  it('for its board show all its queues and can deliver a message, which is then handled', async () => {
    const board = new PageClient(`${shop.url}/board`);
    const { queues } = (await board.get<QueueListView>('i/-/queues')).body;
    expect(queues.map(({ name }) => name).sort()).toEqual(await handledQueues());
    const { id: order } = (await shop.post('/orders', { payWithin: '1h' })).body;
    const timeout = `i/-/queues/orders/messages/${encodeURIComponent(`unpaid:${String(order)}`)}`;
    expect((await board.get<MessageView>(timeout)).body.state).toBe('delayed');
    expect((await board.post(`${timeout}/deliver`, {})).body).toEqual({ changed: true });
    await until(async () => (await statusOf(order)) === 'cancelled');
    expect((await board.get(timeout)).status).toBe(404);
  });

  /** The queues that have a handler in the sources of the shop. */
  async function handledQueues(): Promise<string[]> {
    const sources = new URL('../../sample-app/', import.meta.url);
    const files = (await readdir(sources, { recursive: true })).filter((file) => file.endsWith('.ts'));
    const texts = await Promise.all(files.map((file) => readFile(new URL(file, sources), 'utf8')));
    return texts.flatMap((text) => [...text.matchAll(/@DelayedHandler\('(\w+)'/g)].map(([, queue]) => queue!)).sort();
  }

  async function statusOf(order: unknown): Promise<unknown> {
    const list = (await orders()) as readonly { readonly id: unknown; readonly status: unknown }[];
    return list.find(({ id }) => id === order)?.status;
  }

  async function orders(): Promise<unknown> {
    return (await shop.get('/orders')).body;
  }

  const own = () => new URL(shop.url).host;

  describe('for an order', () => {
    it('may have a JSON object or nothing as their body', async () => {
      expect((await send('POST', '/orders')).status).toBe(201);
      expect((await send('POST', '/orders', { headers: JSON_BODY, body: '{"item":"Tea"}' })).status).toBe(201);
    });

    it.each([
      { kind: 'a text body', type: 'text/plain', body: '{"item":"Tea"}' },
      { kind: 'a form', type: 'application/x-www-form-urlencoded', body: 'item=Tea' },
      { kind: 'a body without a content type', type: '', body: '{"item":"Tea"}' },
    ])('place no order with $kind, and get an answer that says what to send', async ({ type, body }) => {
      const before = await orders();
      const { status, message } = await send('POST', '/orders', {
        headers: type ? { 'content-type': type } : {},
        body,
      });
      expect(status).toBe(415);
      expect(message).toContain('Content-Type: application/json');
      expect(await orders()).toEqual(before);
    });

    it.each(['[]', '[{"item":"Tea"}]', '"Tea"', 'null', '{'])('place no order with the body %s', async (body) => {
      const before = await orders();
      const { status, message } = await send('POST', '/orders', { headers: JSON_BODY, body });
      expect(status).toBe(400);
      expect(message).toContain('JSON object');
      expect(await orders()).toEqual(before);
    });

    it('place no order if the delay is a string without a unit', async () => {
      const before = await orders();
      for (const payWithin of ['30', ' 1.5 ', '0', '+5', '.5', '1e3']) {
        const { status, body } = await shop.post('/orders', { payWithin });
        expect(status).toBe(400);
        expect(body.message).toContain(`payWithin '${payWithin}' has no unit`);
        expect(body.message).toContain("'30s'");
      }
      expect(await orders()).toEqual(before);
      expect((await shop.post('/add?task=x&delay=30')).body.message).toContain("delay '30' has no unit");
    });

    it('may give a delay as a number of milliseconds', async () => {
      const { body } = await shop.post('/orders', { payWithin: 30_000 });
      const time = Date.parse(String(body.dueAt)) - Date.parse(String(body.placedAt));
      expect(Math.abs(time - 30_000)).toBeLessThan(1000);
    });
  });

  describe('from a browser', () => {
    const others: { from: string; headers: Record<string, string> }[] = [
      { from: 'another site', headers: { origin: 'https://shop.example', 'sec-fetch-site': 'cross-site' } },
      { from: 'another port of this machine', headers: { 'sec-fetch-site': 'same-site' } },
      { from: 'another origin, in an older browser', headers: { origin: 'http://127.0.0.1:1' } },
      { from: 'a page without an origin', headers: { origin: 'null' } },
      { from: 'a page whose origin is malformed', headers: { origin: 'nonsense' } },
    ];
    const changes = ['/orders', '/orders/none/pay', '/add?task=x'];

    it.each(others.flatMap(({ from, headers }) => changes.map((path) => ({ from, headers, path }))))(
      'may not POST $path from $from',
      async ({ headers, path }) => {
        const { status, message } = await send('POST', path, { headers });
        expect(status).toBe(403);
        expect(message).toContain('another site');
      },
    );

    it("may come from the shop's own page or from no page", async () => {
      const page = { origin: shop.url, 'sec-fetch-site': 'same-origin' };
      expect((await send('POST', '/orders', { headers: page })).status).toBe(201);
      expect((await send('POST', '/orders', { headers: { 'sec-fetch-site': 'none' } })).status).toBe(201);
    });

    it.each(['/', '/orders', '/events'])('are refused with a host name of another machine: GET %s', async (path) => {
      const { status, message } = await send('GET', path, { headers: { host: 'rebound.example' } });
      expect(status).toBe(421);
      expect(message).toContain('ALLOWED_HOSTS=rebound.example');
    });

    it.each(['localhost', 'shop.localhost', '127.0.0.1', '127.1.2.3', '[::1]', 'LOCALHOST:3000'])(
      'may address the shop as %s',
      async (host) => {
        expect((await send('GET', '/orders', { headers: { host } })).status).toBe(200);
      },
    );

    it.each(['127.0.0.1.example', 'localhost.example', '127.0.0.1@rebound.example', ':', '10.0.0.1'])(
      'may not address the shop as %s',
      async (host) => {
        expect((await send('GET', '/orders', { headers: { host } })).status).toBe(421);
      },
    );

    it("may not send a foreign Origin with the shop's own Host", async () => {
      const headers = { origin: 'http://rebound.example', host: own() };
      expect((await send('POST', '/orders', { headers })).status).toBe(403);
    });
  });

  describe('for a task by GET, as typed into a browser', () => {
    const tasks = async () => {
      const page = await shop.listen();
      const shown = page.of('snapshot')[0]!.data.tasks;
      page.close();
      return shown as readonly { readonly task: string }[];
    };

    const allowed: { from: string; headers: Record<string, string> }[] = [
      { from: 'a user who types the address', headers: { 'sec-fetch-site': 'none' } },
      { from: 'a program other than a browser', headers: {} },
      { from: "the shop's own page", headers: { 'sec-fetch-site': 'same-origin' } },
    ];
    it.each(allowed)('add the task for $from', async ({ from, headers }) => {
      const task = from.slice(0, 20);
      expect((await send('GET', `/add?task=${encodeURIComponent(task)}`, { headers })).status).toBe(200);
      expect((await tasks())[0]).toMatchObject({ task });
    });

    const adds: { kind: string; headers: Record<string, string>; status: number }[] = [
      { kind: 'a page of another site', headers: { 'sec-fetch-site': 'cross-site' }, status: 403 },
      { kind: 'a page on another port of this machine', headers: { 'sec-fetch-site': 'same-site' }, status: 403 },
      {
        kind: 'a page of another site, in an older browser',
        headers: { referer: 'http://other.example/' },
        status: 403,
      },
      { kind: 'another origin', headers: { origin: 'http://127.0.0.1:1' }, status: 403 },
      {
        kind: 'a browser that prefetches the address',
        headers: { 'sec-fetch-site': 'none', 'sec-purpose': 'prefetch;prerender' },
        status: 403,
      },
      { kind: 'another host name', headers: { host: 'rebound.example' }, status: 421 },
    ];
    const paths = ['/add?task=x', '/ADD/?task=x'];
    it.each(adds.flatMap((add) => paths.map((path) => ({ ...add, path }))))(
      'add nothing for $kind ($path)',
      async ({ headers, path, status }) => {
        const before = await tasks();
        expect((await send('GET', path, { headers })).status).toBe(status);
        expect(await tasks()).toEqual(before);
      },
    );

    it('add nothing by HEAD', async () => {
      const before = await tasks();
      expect((await send('HEAD', '/add?task=x')).status).toBe(405);
      expect(await tasks()).toEqual(before);
    });
  });

  it('may use the host names in ALLOWED_HOSTS and no others', async () => {
    const hosts = ['shop.example', 'other.example:8080', 'localhost', 'rebound.example'];
    const named = await SampleApp.start({ ALLOWED_HOSTS: 'shop.example, Other.Example' });
    const answers = [];
    for (const host of hosts) answers.push(await send('GET', '/orders', { to: named, headers: { host } }));
    await named.end();
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 421]);
  });
});
