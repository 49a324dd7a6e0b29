import { describe, expect, test } from '@jest/globals';
import { Handled } from '../support/handled.js';
import { isEmpty } from '../support/is-empty.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const PRODUCERS = 5;
const ENOUGH = 30;

describe('one id offered by several processes while its message is being handled', () => {
  const scene = new Scene();

  test('leads to one handler call for each message that was created', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const producers = await Promise.all(
      Array.from({ length: PRODUCERS }, async () => (await scene.startApp({ module: { consume: false } })).producer),
    );
    await scene.startApp({ providers: [handlerOf(queue, handled.record)] });
    const created: string[] = [];
    await Promise.all(
      producers.map(async (producer, p) => {
        for (let i = 0; created.length < ENOUGH; i++) {
          const payload = `${p}-${i}`;
          if ((await producer.offer(queue, payload, 1, { id: 'm' })).created) created.push(payload);
        }
      }),
    );
    await until(() => isEmpty(producers[0]!, queue));
    expect(handled.payloads.sort()).toEqual(created.sort());
  });
});
