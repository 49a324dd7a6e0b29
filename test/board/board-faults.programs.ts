import { afterEach, describe, expect, test } from '@jest/globals';
import { DelayQueueModule } from 'nestjs-delay-queue';
import { type PageApplication, startPageApplication } from '../support/board/page-application.js';
import type { EventReader } from '../support/board/page-client.js';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';

describe('the board while Redis is away', () => {
  const scene = new Scene({});
  let app: PageApplication | undefined;
  afterEach(() => app?.close());

  test('says so in answers and events, and goes on once it is back', async () => {
    const module = DelayQueueModule.forRoot({ connection: scene.url, prefix: scene.prefix, offerTimeout: '1s' });
    app = await startPageApplication({ parts: { imports: [module] } });
    const { board, producer } = app;
    await producer.offer('orders', {}, '1h');
    const stream = await board.events('i/-/events?queues=orders');
    const has = (reader: EventReader, wanted: string) => reader.events.some(({ event }) => event === wanted);
    await until(() => has(stream, 'rows'));

    await scene.server.kill9();
    await until(() => has(stream, 'away'), { within: 30_000 });
    expect(await board.get('i/-/queues/orders')).toMatchObject({
      status: 503,
      body: { error: { code: 'UNAVAILABLE' } },
    });
    expect((await board.get('config')).status).toBe(200);
    const late = await board.events('i/-/events?queues=orders');
    await until(() => has(late, 'away'));

    await scene.server.restart();
    await until(() => has(stream, 'back') && has(late, 'rows'), { within: 30_000 });
    expect((await board.get('i/-/queues/orders')).status).toBe(200);
  });
});
