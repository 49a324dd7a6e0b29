import { describe, expect, test } from '@jest/globals';
import type { LimitsToSet } from '../../lib/index.js';
import { LIMITS_CHANGED } from '../../lib/store/native/script-replies.js';
import { Scene } from '../support/scene.js';
import { Proxies } from '../support/tcp-proxy/proxies.js';
import { until } from '../support/until.js';
import type { Task } from '../support/worker/worker-settings.js';

/** The interval of the check, and time for a busy machine. */
const CHECK_INTERVAL = 2000;
const SOON = 8000;

describe('limits that change while a queue runs, when processes fail', () => {
  const scene = new Scene();
  const proxies = new Proxies(scene);

  const hang: Task = { do: 'hang' };
  const hanging = (count: number) => Array.from({ length: count }, () => ({ payload: hang, delay: 0 }));

  /** Has a process set limits that is killed when it has stored them, and has announced them to nobody. */
  async function setAndDie(queue: string, limits: LimitsToSet): Promise<void> {
    const proxy = await proxies.start();
    const orders = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const doomed = await scene.startWorker({ queue: orders, module: { connection: proxy.url } });
    const held = proxy.hold(
      ({ command, args }) => /^S?PUBLISH$/.test(command) && args[1]?.toString() === LIMITS_CHANGED,
    );
    await producer.offer(orders, { do: 'set-limits', queue, limits }, 0);
    await until(() => held.count > 0, { within: SOON });
    await doomed.end('SIGKILL');
    expect(await producer.limits(queue).get()).toMatchObject(limits);
  }

  test('others follow by their check if the process that set them was killed before it announced them', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const handler = { globalConcurrency: 2, concurrency: 8, checkInterval: CHECK_INTERVAL };
    const workers = await Promise.all([scene.startWorker({ queue, handler }), scene.startWorker({ queue, handler })]);
    const started = () => workers.flatMap((worker) => worker.of('start')).length;
    await producer.offerMany(queue, hanging(10));
    await until(() => started() === 2, { within: SOON });
    await setAndDie(queue, { globalConcurrency: 5 });
    await until(() => started() === 5, { within: CHECK_INTERVAL + SOON });
    await setAndDie(queue, { globalConcurrency: 'unlimited' });
    await until(() => started() === 10, { within: CHECK_INTERVAL + SOON });
    expect(await producer.counts(queue)).toMatchObject({ ready: 0, active: 10 });
  });

  test('a process that starts after that goes by them from its first claim on', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    await setAndDie(queue, { globalConcurrency: 1 });
    await producer.offerMany(queue, hanging(4));
    const heir = await scene.startWorker({ queue, handler: { concurrency: 8 } });
    await until(() => heir.of('start').length === 1, { within: SOON });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(heir.of('start')).toHaveLength(1);
  });
});
