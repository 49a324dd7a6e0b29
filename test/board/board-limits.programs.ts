import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { DelayQueueModule } from 'nestjs-delay-queue';
import type { JobAnswer, QueueRow } from 'nestjs-delay-queue-board';
import { EventStreams } from '../../packages/board/src/event-streams.js';
import type { Exchange } from '../../packages/board/src/exchange.js';
import { type PageApplication, startPageApplication } from '../support/board/page-application.js';
import type { EventReader } from '../support/board/page-client.js';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';

const KIB = 1024;
const MAX_STREAMS = 100;
const MAX_RUNNING = 20;
const MAX_KEPT = 100;

describe('a board under load', () => {
  const scene = new Scene({});
  let app: PageApplication;

  afterEach(async () => {
    jest.restoreAllMocks();
    await app.close();
  });

  async function start(board: Parameters<typeof startPageApplication>[0]['board'] = {}): Promise<PageApplication> {
    const module = DelayQueueModule.forRoot({ connection: scene.url, prefix: scene.prefix, offerTimeout: '30s' });
    app = await startPageApplication({ parts: { imports: [module] }, board });
    return app;
  }

  const startJob = (queue: string, body: object) => app.board.post<JobAnswer>(`i/-/queues/${queue}/jobs`, body);
  const count = { action: 'count', filter: { state: 'delayed' } };
  const refused = { status: 503, body: { error: { code: 'TOO_MANY' } } };

  test(`opens at most ${MAX_STREAMS} streams of events, and another one once one has ended`, async () => {
    const { board } = await start();
    const path = `i/-/events?queues=${scene.newQueue()}`;
    const streams = await Promise.all(Array.from({ length: MAX_STREAMS }, () => board.events(path)));
    expect(new Set(streams.map(({ response }) => response.statusCode))).toEqual(new Set([200]));
    expect(await board.get(path)).toMatchObject(refused);
    streams.pop()!.close();
    let last: EventReader | undefined;
    await until(async () => {
      last = await board.events(path);
      return last.response.statusCode === 200;
    });
    for (const stream of [...streams, last!]) stream.close();
  });

  test(`runs at most ${MAX_RUNNING} jobs, also if all are asked for at once, and others once these have ended`, async () => {
    const { board } = await start({ who: () => new Promise((resolve) => setTimeout(() => resolve('ada'), 50)) });
    const queue = scene.newQueue();
    await scene.server.freeze();
    const answers = await Promise.all(Array.from({ length: MAX_RUNNING + 5 }, () => startJob(queue, count)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array<number>(MAX_RUNNING).fill(202), ...Array<number>(5).fill(503)]);
    expect(answers.find(({ status }) => status === 503)).toMatchObject(refused);
    await scene.server.thaw();
    await until(async () => (await startJob(queue, count)).status === 202);
    const { id } = answers.find(({ status }) => status === 202)!.body.job;
    await until(async () => (await board.get<JobAnswer>(`i/-/jobs/${id}`)).body.job.state === 'done');
  });

  test(`keeps the ${MAX_KEPT} latest jobs`, async () => {
    const { board } = await start();
    const queue = scene.newQueue();
    const run = async () => {
      const { id } = (await startJob(queue, count)).body.job;
      await until(async () => (await board.get<JobAnswer>(`i/-/jobs/${id}`)).body.job.state === 'done');
      return id;
    };
    const first = await run();
    for (let i = 1; i < MAX_KEPT; i++) await run();
    expect((await board.get(`i/-/jobs/${first}`)).status).toBe(200);
    const second = await run();
    expect((await board.get(`i/-/jobs/${first}`)).status).toBe(404);
    expect((await board.get(`i/-/jobs/${second}`)).status).toBe(200);
  });

  describe('a client that does not read its events', () => {
    // Long names, because the buffers of the system have to be filled.
    const queues = Array.from({ length: 90 }, (_, i) => `${scene.newQueue()}-${i}-`.padEnd(128, 'x'));
    const path = `i/-/events?queues=${queues.join()}`;
    let connection: Socket;
    let client: Socket;

    beforeEach(async () => {
      await start();
      const server = app.app.getHttpServer() as Server;
      const accepted = once(server, 'connection') as Promise<[Socket]>;
      client = await openStalled(`${app.board.url}/api/${path}`);
      [connection] = await accepted;
    });
    afterEach(() => void client.destroy());

    /** Changes all rows, and has them sent at once, because somebody else has begun to watch them. */
    async function change(): Promise<void> {
      await Promise.all(queues.map((queue) => app.producer.offer(queue, {}, '1h')));
      const other = await app.board.events(path);
      await until(() => other.events.length > 0);
      other.close();
    }

    test('gets no more once 64 KiB wait for it, and is dropped', async () => {
      await until(async () => {
        await change();
        return connection.writableLength > 64 * KIB;
      });
      for (let i = 0; i < 10; i++) await change();
      // The event that has exceeded the limit is kept as a whole.
      expect(connection.writableLength).toBeLessThan(150 * KIB);
      await until(() => connection.destroyed, { within: 20_000 });
    });
  });

  test('says that a backlog grows, half a minute later and not before', async () => {
    const { board, producer } = await start();
    const [growing, steady] = [scene.newQueue(), scene.newQueue()];
    for (const queue of [growing, steady]) {
      await producer.pause(queue);
      await scene.startWorker({ queue });
    }
    /** Offers messages that nobody may claim. */
    const offer = async (queue: string) => {
      const { ready } = await producer.counts(queue);
      await producer.offerMany(
        queue,
        Array.from({ length: 20 }, () => ({ payload: {}, delay: 0 })),
      );
      await until(async () => (await producer.counts(queue)).ready === ready + 20);
    };
    const now = performance.now.bind(performance);
    let passed = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now() + passed);
    const growingOnes = async () => {
      const stream = await board.events(`i/-/events?queues=${growing},${steady}`);
      await until(() => stream.events.length > 0);
      stream.close();
      const rows = stream.events.at(-1)!.data as QueueRow[];
      return rows.filter(({ notes }) => notes.some(({ code }) => code === 'growing')).map(({ name }) => name);
    };
    await offer(growing);
    await offer(steady);
    expect(await growingOnes()).toEqual([]);
    await offer(growing);
    passed = 15_000;
    expect(await growingOnes()).toEqual([]);
    passed = 31_000;
    expect(await growingOnes()).toEqual([growing]);
    passed = 45_000;
    expect(await growingOnes()).toEqual([growing]);
    passed = 62_000;
    expect(await growingOnes()).toEqual([]);
  });
});

test('a stream of events that has ended is closed, even if its client does not read the rest', async () => {
  const streams = new EventStreams({});
  const server = createServer((_, response) => {
    const stream = streams.open({ stream: () => response } as unknown as Exchange);
    // More than the system buffers.
    stream.send('rows', [{ text: 'x'.repeat(32 * 1024 * KIB) }]);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = await openStalled(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [connection] = await accepted;
  streams.close();
  await expect(until(() => connection.destroyed, { within: 10_000 })).resolves.toBeUndefined();
  client.destroy();
  server.close();
});

/** Opens a stream of events, and reads nothing of it. */
function openStalled(url: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: false });
    sent.once('response', ({ socket }) => resolve(socket.pause()));
    sent.once('error', reject);
    sent.end();
  });
}
