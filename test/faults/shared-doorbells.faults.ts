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

describe('doorbells that share a connection', () => {
  const scene = new Scene({});
  const opened: RedisConnections[] = [];

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((connections) => connections.close()));
  });

  /** Opens doorbells that share one connection, and says which keys have been passed on. */
  function open(connection = scene.url) {
    const settings = { connection, clock: systemClock, events: new LoggedEvents() };
    const connections = new RedisConnections({ ...settings, commandTimeout: 5000, heartbeat: 60_000 });
    connections.servers.connect();
    opened.push(connections);
    const passedOn: string[] = [];
    const doorbell = (key: string) =>
      connections.openWakeSignal(key, async () => {
        passedOn.push(key);
        await scene.redis.rpush(key, '1');
      });
    const [a, b] = [randomName('a'), randomName('b')];
    return { a: { key: a, doorbell: doorbell(a) }, b: { key: b, doorbell: doorbell(b) }, passedOn };
  }

  const clients = async () => String(await scene.redis.client('LIST')).match(/name=delay-queue:doorbell.*/g) ?? [];
  const countBlocked = async () => (await clients()).filter((client) => client.includes('cmd=blpop')).length;

  async function waitBlocked(doorbell: WakeSignal): Promise<Promise<boolean>[]> {
    const waiting = doorbell.wait(HOUR);
    await until(async () => (await countBlocked()) > 0);
    return [waiting];
  }

  const ring = (key: string) => scene.redis.rpush(key, '1');

  test('a queue joins a call that is blocked, and hears its ring', async () => {
    const { a, b } = open();
    const [first] = await waitBlocked(a.doorbell);
    const second = b.doorbell.wait(HOUR);
    await ring(b.key);
    expect(await second).toBe(true);
    await ring(a.key);
    expect(await first).toBe(true);
    expect(await clients()).toHaveLength(1);
  });

  test('a queue joins a call that was sent again over a new connection', async () => {
    const { a, b } = open();
    const [lost] = await waitBlocked(a.doorbell);
    const [, id] = /^id=(\d+) .*name=delay-queue:doorbell/m.exec(String(await scene.redis.client('LIST')))!;
    await scene.redis.client('KILL', 'ID', id!);
    await expect(lost).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    const [first] = await waitBlocked(a.doorbell);
    const second = b.doorbell.wait(HOUR);
    await ring(b.key);
    expect(await second).toBe(true);
    await ring(a.key);
    expect(await first).toBe(true);
    expect(await clients()).toHaveLength(1);
  });

  test.each(['client|id', 'client|unblock'])('a user without %s has a connection for each queue', async (command) => {
    const user = randomName('lacking');
    await scene.redis.call('ACL', 'SETUSER', user, 'on', 'nopass', '~*', '&*', '+@all', `-${command}`);
    const { a, b } = open(scene.url.replace('redis://', `redis://${user}:any@`));
    const [first] = await waitBlocked(a.doorbell);
    const second = b.doorbell.wait(HOUR);
    await until(async () => (await countBlocked()) === 2);
    await Promise.all([ring(a.key), ring(b.key)]);
    expect(await Promise.all([first, second])).toEqual([true, true]);
  });

  test('a queue that rings all the time does not drown the others', async () => {
    const { a, b } = open();
    await scene.redis.rpush(a.key, ...Array.from({ length: 20_000 }, () => '1'));
    let rings = 0;
    const hearing = (async () => {
      while (await a.doorbell.wait(HOUR)) rings++;
    })();
    await until(() => rings > 3);
    const before = rings;
    const heard = b.doorbell.wait(HOUR);
    await ring(b.key);
    expect(await heard).toBe(true);
    expect(rings - before).toBeLessThan(1000);
    await a.doorbell.close();
    await hearing;
  });

  test('a ring during a claim ends the next wait at once', async () => {
    const { a, b, passedOn } = open();
    const others = b.doorbell.wait(HOUR);
    await ring(a.key);
    expect(await a.doorbell.wait(HOUR)).toBe(true);
    await ring(a.key);
    expect(await a.doorbell.wait(HOUR)).toBe(true);
    expect(passedOn).toEqual([]);
    await ring(b.key);
    expect(await others).toBe(true);
  });

  test('a ring for a queue that does not come back is passed on, and the next one is left for others', async () => {
    const { a, b, passedOn } = open();
    void b.doorbell.wait(HOUR);
    await ring(a.key);
    expect(await a.doorbell.wait(HOUR)).toBe(true);
    await ring(a.key);
    await until(() => passedOn.length > 0, { within: SOON });
    // The call that was blocked meanwhile takes it once more.
    await until(async () => passedOn.length === 2 && (await scene.redis.llen(a.key)) === 1);
  });

  test('a ring for a queue that has left is passed on at once', async () => {
    const { a, b, passedOn } = open();
    void b.doorbell.wait(HOUR);
    const waiting = a.doorbell.wait(HOUR);
    await until(async () => (await countBlocked()) === 1);
    a.doorbell.leave();
    expect(await waiting).toBe(false);
    await ring(a.key);
    await until(async () => passedOn.length === 1 && (await scene.redis.llen(a.key)) === 1, { within: SOON });
    expect(await a.doorbell.wait(HOUR)).toBe(true);
  });

  test('once a doorbell is closed nothing is popped for it, and the others go on', async () => {
    const { a, b, passedOn } = open();
    const heard = b.doorbell.wait(HOUR);
    const closed = a.doorbell.wait(HOUR);
    await until(async () => (await countBlocked()) === 1);
    await a.doorbell.close();
    expect(await closed).toBe(false);
    await ring(a.key);
    await ring(b.key);
    expect(await heard).toBe(true);
    expect([passedOn, await scene.redis.llen(a.key)]).toEqual([[], 1]);
  });

  test('the last one to close takes the connection with it', async () => {
    const { a, b } = open();
    const [waiting] = await waitBlocked(a.doorbell);
    await Promise.all([a.doorbell.close(), b.doorbell.close()]);
    expect(await waiting).toBe(false);
    await until(async () => (await clients()).length === 0);
  });

  test('a doorbell that is something else in Redis does not silence the others', async () => {
    const { a, b } = open();
    await scene.redis.set(a.key, 'text');
    const fails = async () => {
      for (;;) await a.doorbell.wait(HOUR);
    };
    await expect(fails()).rejects.toMatchObject({ code: 'STORE_REFUSED' });
    const heard = b.doorbell.wait(HOUR);
    const again = fails();
    again.catch(() => undefined);
    await ring(b.key);
    expect(await heard.catch(() => b.doorbell.wait(HOUR))).toBe(true);
    await expect(again).rejects.toMatchObject({ code: 'STORE_REFUSED' });
  });

  test('all waits fail when the server dies, and are rung for again when it is back', async () => {
    const { a, b } = open();
    const [first] = await waitBlocked(a.doorbell);
    const waits = [first!, b.doorbell.wait(HOUR)].map((wait) => wait.catch((error: { code: string }) => error.code));
    await scene.server.kill9();
    expect(await Promise.all(waits)).toEqual(['OUTCOME_UNKNOWN', 'OUTCOME_UNKNOWN']);
    await scene.server.restart();
    const again = [a.doorbell.wait(HOUR), b.doorbell.wait(HOUR)];
    await ring(a.key);
    await ring(b.key);
    expect(await Promise.all(again)).toEqual([true, true]);
  });

  test('another process hears what one without a free slot hears', async () => {
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
