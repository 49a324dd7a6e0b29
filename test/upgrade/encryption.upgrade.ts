import { expect, test } from '@jest/globals';
import { encryption } from '../../lib/encryption/index.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';
import { earlierBuild } from './earlier-build.js';
import { Peer } from './peer.js';

const scene = new Scene({});

test('a process of the earlier build lets encrypted messages wait, and one of this build then handles them', async () => {
  const queue = scene.newQueue();
  const defaults = { encryption: encryption({ current: 'k1', keys: { k1: Buffer.alloc(32, 1) } }) };
  const writer = await scene.startApp({ module: { defaults } });
  await writer.producer.offer(queue, { do: 'nothing' }, 0, { id: 'encrypted', type: 'task', expiresAfter: '1h' });
  const module = { connection: scene.url, prefix: scene.prefix, offerTimeout: '30s' } as const;
  const earlier = await Peer.start({ lib: earlierBuild(), module, queue, handler: { attempts: 1 } });
  try {
    await earlier.call('offer', { do: 'nothing' }, 0, { id: 'plain' });
    await until(() => earlier.startsOf('plain').length === 1);
    await until(async () => (await writer.producer.counts(queue)).delayed === 1);
    expect(earlier.startsOf('encrypted')).toEqual([]);
  } finally {
    await earlier.end('SIGTERM');
  }
  const handled = new Handled();
  const app = await scene.startApp({ module: { defaults }, providers: [handlerOf(queue, handled.record)] });
  await app.producer.reschedule(queue, 'encrypted', 0);
  expect(await handled.until('encrypted')).toMatchObject({ payload: { do: 'nothing' }, attempt: 1 });
  expect(await app.producer.counts(queue)).toMatchObject({ delayed: 0, dead: 0 });
});
