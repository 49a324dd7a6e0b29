import { afterEach, expect, test } from '@jest/globals';
import type { DelayQueueModuleOptions } from '../../../../lib/index.js';
import { type EntryFormat, redisson, redissonQueue } from '../../src/index.js';
import { redissonKeys, type RedissonQueueName } from '../../src/redisson-keys.js';
import { Handled } from '../../../../test/support/handled.js';
import { Scene } from '../../../../test/support/scene.js';
import { handlerOf } from '../../../../test/support/test-app.js';
import { until } from '../../../../test/support/until.js';
import { type JavaCodec, JavaPeer } from './java-peer.js';
import { describeWithJava } from './java-suite.js';
import { Tally } from './tally.js';

/** Less than a standby's grace period and than Redisson's 5 s until it tries again, so only a woken timer is in time. */
const PROMPT = 700;
const MANY = 100_000;

describeWithJava('a queue shared by Java and Node', (suite) => {
  const scene = new Scene();
  const queues: RedissonQueueName[] = [];

  afterEach(async () => {
    for (const name of queues.splice(0)) {
      await suite.java.stopConsuming({ queue: name.queue, codec: 'string' });
      await scene.redis.unlink(Object.values(redissonKeys(name)) as string[]);
    }
  });

  async function startJava(): Promise<JavaPeer> {
    const peer = await JavaPeer.start(suite.line);
    await peer.connect(scene.url);
    return peer;
  }

  function newQueue(codec: JavaCodec = 'string') {
    const queue = scene.newQueue();
    queues.push({ prefix: scene.prefix, queue });
    return { queue, codec };
  }

  const format: EntryFormat = suite.line === '4' ? 'Bc0Lc0' : 'dLc0';
  const layout = redisson({ codec: 'string', format });
  const module: DelayQueueModuleOptions = { defaults: { layout, concurrency: 100 } };

  /** Starts an application that handles the queue and counts messages. */
  async function startNode(queue: string, tally: Tally) {
    const handler = handlerOf<string>(queue, (value) => tally.count(value, Date.now()));
    return scene.startApp({ module, providers: [handler] });
  }

  const startProducer = async () => (await scene.startApp({ module: { ...module, consume: false } })).producer;

  test('each message that Java offers reaches Node exactly once, and never early', async () => {
    const queue = newQueue();
    const tally = new Tally();
    await startNode(queue.queue, tally);
    for (const delay of [0, 1, 50, 500, 1000]) {
      await suite.java.offerMany(queue, tally.expect(200, 'java', delay), delay, 20);
    }
    await until(() => tally.isComplete, { within: 20_000 });
    expect(tally.problems()).toEqual([]);
  }, 60_000);

  test('each message that Node offers reaches Java exactly once, and never early', async () => {
    const queue = newQueue();
    const tally = new Tally();
    const producer = await startProducer();
    await suite.java.startTransfer(queue);
    await suite.java.consume(queue, 4);
    for (const delay of [0, 1, 50, 500, 1000]) {
      const values = tally.expect(200, 'node', delay);
      await producer.offerMany(
        queue.queue,
        values.map((payload) => ({ payload, delay })),
      );
    }
    await until(() => suite.java.messages(queue.queue).length >= 1000, { within: 20_000 });
    tally.countAll(suite.java.messages(queue.queue));
    expect(tally.problems()).toEqual([]);
    expect(suite.java.failures).toEqual([]);
  }, 60_000);

  test(`each of ${MANY} messages arrives once and never early while both sides offer and take, and nothing is left`, async () => {
    const queue = newQueue();
    const tally = new Tally();
    const { producer } = await startNode(queue.queue, tally);
    await suite.java.consume(queue, 4);
    const delays = Array.from({ length: 20 }, (_, index) => index * 250);
    const share = MANY / 2 / delays.length;
    const byJava = async () => {
      for (const delay of delays) await suite.java.offerMany(queue, tally.expect(share, 'java', delay), delay, 200);
    };
    const byNode = async () => {
      for (const delay of delays) {
        const values = tally.expect(share, 'node', delay);
        await producer.offerMany(
          queue.queue,
          values.map((payload) => ({ payload, delay })),
        );
      }
    };
    await Promise.all([byJava(), byNode()]);
    const taken = () => suite.java.messages(queue.queue);
    await until(() => tally.handled + taken().length >= MANY, { within: 200_000, every: 100 });
    const byNodeHandled = tally.handled;
    tally.countAll(taken());
    expect(tally.problems()).toEqual([]);
    console.log(
      `Redisson ${suite.line}: ${MANY} messages, ${byNodeHandled} handled by Node, ${taken().length} taken by Java`,
    );

    await until(async () => (await producer.counts(queue.queue)).active === 0);
    expect(await producer.counts(queue.queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
    expect(await suite.java.size(queue)).toBe(0);
  }, 300_000);

  test.each(['shop:{eu}:', 'Bestellungen / größer: '])(
    'a queue can be shared under a name in Java that begins with %j',
    async (start) => {
      const queue = newQueue();
      const inJava = { ...queue, queue: start + queue.queue };
      queues.push({ prefix: scene.prefix, queue: queue.queue, redissonName: inJava.queue });
      const tally = new Tally();
      const handler = handlerOf<string>(queue.queue, (value) => tally.count(value, Date.now()), {
        layout: redisson({ codec: 'string', format, name: inJava.queue }),
      });
      const { producer } = await scene.startApp({ module, providers: [handler] });
      const delayed = { payload: 'of Node', delay: '1h' } as const;
      await producer.offer(queue.queue, delayed.payload, delayed.delay, { id: 'of Node' });
      expect((await suite.java.readAll(inJava)).map(({ value }) => value)).toEqual([delayed.payload]);
      expect(await producer.cancel(queue.queue, 'of Node')).toBe(true);

      await suite.java.offerMany(inJava, tally.expect(100, 'java', 300), 300, 10);
      await until(() => tally.isComplete, { within: 20_000 });
      expect(tally.problems()).toEqual([]);
    },
    60_000,
  );

  test("Java's transfer alone serves both sides", async () => {
    const queue = newQueue();
    const tally = new Tally();
    const producer = await startProducer();
    await suite.java.consume(queue, 2);
    await suite.java.offerMany(queue, tally.expect(100, 'java', 300), 300, 10);
    const values = tally.expect(100, 'node', 300);
    await producer.offerMany(
      queue.queue,
      values.map((payload) => ({ payload, delay: 300 })),
    );
    await until(() => suite.java.messages(queue.queue).length >= 200, { within: 20_000 });
    tally.countAll(suite.java.messages(queue.queue));
    expect(tally.problems()).toEqual([]);
  }, 60_000);

  test("Node's transfer alone serves both sides", async () => {
    const queue = newQueue();
    const tally = new Tally();
    const { producer } = await startNode(queue.queue, tally);
    await producer.pause(queue.queue);
    await suite.java.stopTransfer(queue);
    await suite.java.offerMany(queue, tally.expect(100, 'java', 300), 300, 10);
    const values = tally.expect(100, 'node', 300);
    await producer.offerMany(
      queue.queue,
      values.map((payload) => ({ payload, delay: 300 })),
    );
    await until(async () => (await producer.counts(queue.queue)).ready === 200, { within: 20_000 });
    await suite.java.consume(queue, 2);
    await until(() => suite.java.messages(queue.queue).length >= 50, { within: 20_000 });
    await producer.resume(queue.queue);
    await until(() => tally.handled + suite.java.messages(queue.queue).length >= 200, { within: 20_000 });
    tally.countAll(suite.java.messages(queue.queue));
    expect(tally.problems()).toEqual([]);
  }, 60_000);

  test("each side sees, finds and removes the other's messages", async () => {
    const queue = newQueue();
    const producer = await startProducer();
    const values = redissonQueue(producer, queue.queue);
    await producer.offer(queue.queue, 'by node', '1h', { id: 'n' });
    await suite.java.offer(queue, { value: 'by java' }, 3_600_000);
    await producer.offer(queue.queue, 'by node, too', '1h', { id: 'n2' });

    expect(await suite.java.size(queue)).toBe(3);
    expect((await suite.java.readAll(queue)).map(({ value }) => value)).toEqual(['by node', 'by java', 'by node, too']);
    expect(await suite.java.contains(queue, { value: 'by node' })).toBe(true);
    expect(await values.size()).toBe(3);
    expect(await values.readAll()).toEqual(['by node', 'by java', 'by node, too']);
    expect(await values.contains('by java')).toBe(true);

    expect(await suite.java.remove(queue, { value: 'by node' })).toBe(true);
    expect(await producer.find(queue.queue, 'n')).toBeNull();
    expect(await producer.cancel(queue.queue, 'n')).toBe(false);
    expect(await values.remove('by java')).toBe(true);
    expect(await suite.java.contains(queue, { value: 'by java' })).toBe(false);
    expect(await suite.java.peek(queue)).toMatchObject({ value: 'by node, too' });
    expect(await suite.java.poll(queue)).toMatchObject({ value: 'by node, too' });
    expect(await values.size()).toBe(0);
    expect(await producer.counts(queue.queue)).toMatchObject({ delayed: 0 });

    await suite.java.offer(queue, { value: 'last' }, 3_600_000);
    expect(await values.poll()).toBe('last');
    expect(await suite.java.size(queue)).toBe(0);
  }, 30_000);

  test('no message sent from Java is lost when a Node process is killed while its handlers are running', async () => {
    const queue = newQueue('json');
    const settings = {
      queue: queue.queue,
      inRedisson: { codec: 'json', format } as const,
      handler: { lease: 1500, concurrency: 8 },
    };
    const victim = await scene.startWorker(settings);
    for (let index = 0; index < 8; index++) {
      await suite.java.offer(queue, { value: { do: 'hang', firstAttemptOnly: true } }, 100);
    }
    await until(() => victim.of('start').length === 8, { within: 20_000 });
    await victim.end('SIGKILL');
    const heir = await scene.startWorker(settings);
    await until(() => heir.of('end').length === 8, { within: 20_000 });
    const ids = (calls: readonly { id: string }[]) => calls.map(({ id }) => id).sort();
    expect(ids(heir.of('end'))).toEqual(ids(victim.of('start')));
    expect(heir.of('end').every(({ attempt }) => attempt === 2)).toBe(true);
  }, 60_000);

  test('Node handles the messages of a Java process that was killed', async () => {
    const queue = newQueue();
    const tally = new Tally();
    const victim = await startJava();
    await victim.offerMany(queue, tally.expect(100, 'java', 700), 700, 10);
    await victim.kill9();
    await startNode(queue.queue, tally);
    await until(() => tally.isComplete, { within: 20_000 });
    expect(tally.problems()).toEqual([]);
  }, 60_000);

  test('an earlier message wakes the timers of both sides, whoever offers it', async () => {
    const queue = newQueue();
    const handled = [new Handled(), new Handled()];
    const apps = await Promise.all(
      handled.map(({ record }) => scene.startApp({ module, providers: [handlerOf(queue.queue, record)] })),
    );
    const { producer } = apps[0]!;
    await suite.java.offer(queue, { value: 'far' }, 3_600_000);
    await producer.offer(queue.queue, 'far', '1h');
    const calls = () => handled.flatMap((each) => each.calls);

    for (const offer of [
      () => suite.java.offer(queue, { value: 'soon' }, 300),
      () => producer.offer(queue.queue, 'soon', 300),
    ]) {
      const before = calls().length;
      await offer();
      const offered = performance.now();
      await until(() => calls().length > before, { within: 20_000 });
      expect(performance.now() - offered).toBeLessThan(300 + PROMPT);
    }

    await Promise.all(apps.map((app) => app.close()));
    const alone = await startProducer();
    await suite.java.startTransfer(queue);
    for (const offer of [
      () => alone.offer(queue.queue, 'sooner', 300),
      () => suite.java.offer(queue, { value: 'sooner' }, 300),
    ]) {
      await offer();
      const offered = performance.now();
      expect(await suite.java.take(queue, 20_000)).toMatchObject({ value: 'sooner' });
      expect(performance.now() - offered).toBeLessThan(300 + PROMPT);
    }
  }, 60_000);
});
