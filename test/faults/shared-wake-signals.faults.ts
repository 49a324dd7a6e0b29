import { afterEach, describe, expect, test } from '@jest/globals';
import type { WakeSignal } from '../../lib/store/consumer-store.js';
import { RedisConnections } from '../../lib/redis/redis-connections.js';
import { systemClock } from '../../lib/timing/clock.js';
import { Handled } from '../support/handled.js';
import { Latch } from '../support/latch.js';
import { LoggedEvents } from '../support/logged-events.js';
import { randomName } from '../support/random-name.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const HOUR = 3_600_000;
/** Far less than any timeout that would end a wait, ms. */
const SOON = 5000;

interface OpenSignal {
  readonly key: string;
  readonly signal: WakeSignal;
}

describe('wake-up signals that share a connection', () => {
  const scene = new Scene({});
  const opened: RedisConnections[] = [];

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((connections) => connections.close()));
  });

  /** Opens two signals that share a connection; `passedOn` gets the keys for which another consumer was to be woken. */
  function open(connection = scene.url) {
    const settings = { connection, clock: systemClock, events: new LoggedEvents() };
    const connections = new RedisConnections({ ...settings, commandTimeout: 5000, heartbeat: 60_000 });
    connections.servers.connect();
    opened.push(connections);
    const passedOn: string[] = [];
    const signal = (key: string) =>
      connections.openWakeSignal(key, async () => {
        passedOn.push(key);
        await scene.redis.rpush(key, '1');
      });
    const [a, b] = [randomName('a'), randomName('b')];
    return { a: { key: a, signal: signal(a) }, b: { key: b, signal: signal(b) }, passedOn };
  }

  const clients = async () => String(await scene.redis.client('LIST')).match(/name=delay-queue:wake-signals.*/g) ?? [];
  const countBlocked = async () => (await clients()).filter((client) => client.includes('cmd=blpop')).length;

  async function waitBlocked(signal: WakeSignal): Promise<Promise<boolean>[]> {
    const waiting = signal.wait(HOUR);
    await until(async () => (await countBlocked()) > 0);
    return [waiting];
  }

  const send = (key: string) => scene.redis.rpush(key, '1');

  /** Lets the second one wait while the call of the first one is blocked, and expects that both are woken over one connection. */
  async function expectToShareCall(a: OpenSignal, b: OpenSignal): Promise<void> {
    const [first] = await waitBlocked(a.signal);
    const second = b.signal.wait(HOUR);
    await send(b.key);
    expect(await second).toBe(true);
    await send(a.key);
    expect(await first).toBe(true);
    expect(await clients()).toHaveLength(1);
  }

  test('a key joins a blocked call, and its consumer is woken', async () => {
    const { a, b } = open();
    await expectToShareCall(a, b);
  });

  test('a key joins a call that was retried over a new connection', async () => {
    const { a, b } = open();
    const [lost] = await waitBlocked(a.signal);
    const [, id] = /^id=(\d+) .*name=delay-queue:wake-signals/m.exec(String(await scene.redis.client('LIST')))!;
    await scene.redis.client('KILL', 'ID', id!);
    await expect(lost).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    await expectToShareCall(a, b);
  });

  test.each(['client|id', 'client|unblock'])(
    'a user who may not run %s needs one connection per queue',
    async (command) => {
      const user = randomName('lacking');
      await scene.redis.call('ACL', 'SETUSER', user, 'on', 'nopass', '~*', '&*', '+@all', `-${command}`);
      const { a, b } = open(scene.url.replace('redis://', `redis://${user}:any@`));
      const [first] = await waitBlocked(a.signal);
      const second = b.signal.wait(HOUR);
      await until(async () => (await countBlocked()) === 2);
      await Promise.all([send(a.key), send(b.key)]);
      expect(await Promise.all([first, second])).toEqual([true, true]);
    },
  );

  test('a key that always has signals does not starve the other keys', async () => {
    const { a, b } = open();
    await scene.redis.rpush(a.key, ...Array.from({ length: 20_000 }, () => '1'));
    let signals = 0;
    const waiting = (async () => {
      while (await a.signal.wait(HOUR)) signals++;
    })();
    await until(() => signals > 3);
    const before = signals;
    const woken = b.signal.wait(HOUR);
    await send(b.key);
    expect(await woken).toBe(true);
    expect(signals - before).toBeLessThan(1000);
    await a.signal.close();
    await waiting;
  });

  test('a signal that arrives during a claim ends the next wait at once', async () => {
    const { a, b, passedOn } = open();
    const others = b.signal.wait(HOUR);
    await send(a.key);
    expect(await a.signal.wait(HOUR)).toBe(true);
    await send(a.key);
    expect(await a.signal.wait(HOUR)).toBe(true);
    expect(passedOn).toEqual([]);
    await send(b.key);
    expect(await others).toBe(true);
  });

  test('a signal for a consumer that does not return is passed on, and the next one is left for others', async () => {
    const { a, b, passedOn } = open();
    void b.signal.wait(HOUR);
    await send(a.key);
    expect(await a.signal.wait(HOUR)).toBe(true);
    await send(a.key);
    await until(() => passedOn.length > 0, { within: SOON });
    // The call that was blocked in the meantime takes it once more.
    await until(async () => passedOn.length === 2 && (await scene.redis.llen(a.key)) === 1);
  });

  test('a signal for a consumer that has left is passed on at once', async () => {
    const { a, b, passedOn } = open();
    void b.signal.wait(HOUR);
    const waiting = a.signal.wait(HOUR);
    await until(async () => (await countBlocked()) === 1);
    a.signal.leave();
    expect(await waiting).toBe(false);
    await send(a.key);
    await until(async () => passedOn.length === 1 && (await scene.redis.llen(a.key)) === 1, { within: SOON });
    expect(await a.signal.wait(HOUR)).toBe(true);
  });

  test('a closed signal takes nothing from its key, and the others still work', async () => {
    const { a, b, passedOn } = open();
    const woken = b.signal.wait(HOUR);
    const closed = a.signal.wait(HOUR);
    await until(async () => (await countBlocked()) === 1);
    await a.signal.close();
    expect(await closed).toBe(false);
    await send(a.key);
    await send(b.key);
    expect(await woken).toBe(true);
    expect([passedOn, await scene.redis.llen(a.key)]).toEqual([[], 1]);
  });

  test('the last signal to close also closes the connection', async () => {
    const { a, b } = open();
    const [waiting] = await waitBlocked(a.signal);
    await Promise.all([a.signal.close(), b.signal.close()]);
    expect(await waiting).toBe(false);
    await until(async () => (await clients()).length === 0);
  });

  test('a key of the wrong type in Redis does not block the other signals', async () => {
    const { a, b } = open();
    await scene.redis.set(a.key, 'text');
    const fails = async () => {
      for (;;) await a.signal.wait(HOUR);
    };
    await expect(fails()).rejects.toMatchObject({ code: 'STORE_REFUSED' });
    const woken = b.signal.wait(HOUR);
    const again = fails();
    again.catch(() => undefined);
    await send(b.key);
    expect(await woken.catch(() => b.signal.wait(HOUR))).toBe(true);
    await expect(again).rejects.toMatchObject({ code: 'STORE_REFUSED' });
  });

  test('all waits fail when the server dies, and new ones can be woken when it is back', async () => {
    const { a, b } = open();
    const [first] = await waitBlocked(a.signal);
    const waits = [first!, b.signal.wait(HOUR)].map((wait) => wait.catch((error: { code: string }) => error.code));
    await scene.server.kill9();
    expect(await Promise.all(waits)).toEqual(['OUTCOME_UNKNOWN', 'OUTCOME_UNKNOWN']);
    await scene.server.restart();
    const again = [a.signal.wait(HOUR), b.signal.wait(HOUR)];
    await send(a.key);
    await send(b.key);
    expect(await Promise.all(again)).toEqual([true, true]);
  });

  test('another process gets the signal of a process without a free slot', async () => {
    const [queue, other] = [scene.newQueue(), scene.newQueue()];
    const [first, second] = [new Handled(), new Handled()];
    const done = new Latch();
    const start = (handled: Handled) =>
      scene.startApp({
        providers: [
          handlerOf(
            queue,
            async (payload, message) => {
              handled.record(payload, message);
              await done.opened;
            },
            { concurrency: 1 },
          ),
          handlerOf(other, () => undefined),
        ],
      });
    const { producer } = await start(first);
    await producer.offer(queue, null, 0, { id: 'first' });
    await first.until('first');
    await start(second);
    await producer.offer(queue, null, 50, { id: 'second' });
    expect((await second.until('second')).late).toBeLessThan(SOON);
    done.open();
  });
});
