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
    expect(queues.map(({ name }) => name).sort()).toEqual(['emails', 'orders', 'reminders']);
    expect(await board.queue('reminders')).toMatchObject({ readOnlyMode: true });
    expect(await board.queue('emails')).toMatchObject({
      description: 'What is sent later',
      counts: { delayed: 1, failed: 1 },
    });
  });

  test('checks what is added to a typed queue', async () => {
    expect(await board.add('emails', { name: 'typo', data: {}, options: {} })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('has the types welcome, bounce') },
    });
  });

  test('promotes messages and retries dead letters', async () => {
    await board.put(`emails/${encodeURIComponent('welcome:ada')}/promote`);
    await board.put(`emails/${encodeURIComponent('bounce:bob')}/retry`);
    await until(() => board.handled.length === 2);
    expect([...board.handled].sort()).toEqual(['handled', 'handled again']);
  });
});
