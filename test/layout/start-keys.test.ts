import { describe, expect, test } from '@jest/globals';
import { layouts } from '../support/layouts.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';

describe('application startup', () => {
  const scene = new Scene({});

  test.each(['native', 'redisson'] as const)('does not write any keys of a queue in the %s layout', async (layout) => {
    const [producing, handling] = [scene.newQueue(), scene.newQueue()];
    const options = { layout: layouts[layout] };
    const queues = { [producing]: options, [handling]: options };
    const { producer, close } = await scene.startApp({
      module: { queues },
      providers: [handlerOf(handling, () => undefined)],
    });
    await producer.counts(producing);
    await close();
    expect(await scene.redis.keys(`*${producing}*`)).toEqual([]);
    expect(await scene.redis.keys(`*${handling}*`)).toEqual([]);
    expect(await scene.redis.keys('*rehearsal*')).toEqual([]);
  });
});
