import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BoardApplication } from '../support/board/board-application.js';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';

describe('bull-board in a Nest application', () => {
  const scene = new Scene();
  let board: BoardApplication;

  beforeAll(async () => {
    board = await BoardApplication.start(scene.url, scene.prefix);
  });
  afterAll(() => board?.stop());

  test('shows the queues of all its modules, by name or by class', async () => {
    const queues = await board.queues();
    expect(queues.map(({ name }) => name).sort()).toEqual([
      'billing:invoices',
      'billing:orders',
      'emails',
      'orders',
      'reminders',
    ]);
    expect(await board.queue('reminders')).toMatchObject({ readOnlyMode: true });
    expect(await board.queue('emails')).toMatchObject({
      description: 'What is sent later',
      counts: { delayed: 1, failed: 1 },
    });
  });

  test('validates messages added to a typed queue', async () => {
    expect(await board.add('emails', { name: 'typo', data: {}, options: {} })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('has the types welcome, bounce') },
    });
  });

  test('shows and changes the queues of a named instance separately from those of other instances', async () => {
    expect(await board.queue('billing:invoices')).toMatchObject({ counts: { delayed: 1 } });
    expect((await board.add('orders', { name: '__default__', data: {}, options: { delay: 3_600_000 } })).status).toBe(
      200,
    );
    expect(await board.queue('orders')).toMatchObject({ counts: { delayed: 1 } });
    expect(await board.queue('billing:orders')).toMatchObject({ counts: { delayed: 0 } });
    await board.put('billing:invoices/clean/delayed');
    expect(await board.queue('billing:invoices')).toMatchObject({ counts: { delayed: 0 } });
  });

  test('promotes messages and retries dead letters', async () => {
    await board.put(`emails/${encodeURIComponent('welcome:ada')}/promote`);
    await board.put(`emails/${encodeURIComponent('bounce:bob')}/retry`);
    await until(() => board.handled.length === 2);
    expect([...board.handled].sort()).toEqual(['handled', 'handled again']);
  });
});
