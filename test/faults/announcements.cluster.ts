import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Cluster } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis-5';
import type { DelayQueueModuleOptions } from '../../lib/index.js';
import { NativeQueueDirectory } from '../../lib/store/native/native-directory.js';
import { hashSlot } from '../../lib/redis/cluster/hash-slot.js';
import { RedisConnections } from '../../lib/redis/redis-connections.js';
import { systemClock } from '../../lib/timing/clock.js';
import { printedRules } from '../support/access-rules.js';
import { Handled } from '../support/handled.js';
import { LoggedEvents } from '../support/logged-events.js';
import { randomName } from '../support/random-name.js';
import type { ClusterMember } from '../support/redis/redis-cluster.js';
import { useCluster } from '../support/redis/use-cluster.js';
import { handlerOf, startTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

type Connection = DelayQueueModuleOptions['connection'];

const OlderCluster = Cluster5 as unknown as typeof Cluster;

/** How late a message may be on a busy machine, ms; without its announcement, the next check is a minute away. */
const LATEST = 3000;

/** The permissions that operations.md names for clusters. */
const IN_CLUSTER = [
  '+cluster|slots',
  '+cluster|info',
  '+readonly',
  '+asking',
  '+spublish',
  '+ssubscribe',
  '+sunsubscribe',
];

describe('announcements in a cluster', () => {
  const cluster = useCluster();
  const closers: (() => Promise<void>)[] = [];
  let queue: string;
  let handled: Handled;

  beforeEach(() => {
    queue = randomName('queue');
    handled = new Handled();
  });
  afterEach(async () => {
    await Promise.all(closers.splice(0).map((close) => close()));
    await cluster().untilWhole();
  });

  const keyOf = (name: string) => `delay-queue:{${name}}:delayed`;
  const channelOf = (name: string) => `delay-queue:{${name}}:due`;

  /** How many connections of this package there are, by role. */
  async function connections(): Promise<Record<string, number>> {
    const lists = await Promise.all(cluster().up.map((member) => cluster().ask(member, 'CLIENT', 'LIST')));
    const count = (role: string) => lists.join('').split(`name=delay-queue:${role} `).length - 1;
    return {
      commands: count('commands'),
      announcements: count('announcements'),
      'wake-signals': count('wake-signals'),
    };
  }

  async function startApp(parts = {}, more: Partial<DelayQueueModuleOptions> = {}): Promise<TestApp> {
    const connection: Connection = { cluster: { nodes: cluster().nodes } };
    const app = await startTestApp(
      { connection, offerTimeout: 1000, defaults: { blockTimeout: 1000 }, ...more },
      parts,
    );
    closers.push(() => app.close());
    return app;
  }

  const startConsumer = (name = queue, connection?: Connection) =>
    startApp({ providers: [handlerOf(name, handled.record)] }, connection === undefined ? {} : { connection });

  const startProducer = async () => (await startApp({}, { consume: false })).producer;

  /** Connections without an application, which send nothing by themselves. */
  function connect(connection: Connection = { cluster: { nodes: cluster().nodes } }): RedisConnections {
    const events = new LoggedEvents();
    const settings = { connection, clock: systemClock, events, commandTimeout: 1000, heartbeat: 60_000 };
    const connections = new RedisConnections(settings);
    closers.push(() => connections.close());
    return connections;
  }

  /** Waits until the channel of a queue has that many listeners on its primary. */
  async function untilAnnounced(by: number, name = queue): Promise<void> {
    const numbers = async () =>
      (await cluster().ask(
        await cluster().primaryOf(keyOf(name)),
        'PUBSUB',
        'SHARDNUMSUB',
        channelOf(name),
      )) as unknown[];
    await until(async () => Number((await numbers())[1]) === by, { within: 10_000, every: 20 });
  }

  /** Expects a message that is announced, because it falls due before all others, to be handled in time. */
  async function expectAnnounced({ producer }: Pick<TestApp, 'producer'>, name = queue): Promise<void> {
    const id = randomName('m');
    await producer.offer(name, null, 100, { id });
    expect((await handled.until(id, { within: LATEST })).late).toBeLessThan(LATEST);
  }

  /** The number of messages of a kind that all servers have sent to each other. */
  async function sentToOthers(kind: 'publish' | 'publishshard'): Promise<number> {
    const infos = await Promise.all(cluster().members.map((member) => cluster().ask(member, 'CLUSTER', 'INFO')));
    const sent = (info: unknown) => new RegExp(`cluster_stats_messages_${kind}_sent:(\\d+)`).exec(String(info))?.[1];
    return infos.reduce<number>((sum, info) => sum + Number(sent(info) ?? 0), 0);
  }

  test("reach the other processes, and no server except the primary's replica", async () => {
    const producer = await startProducer();
    await startConsumer();
    await startConsumer();
    await untilAnnounced(2);
    const before = { all: await sentToOthers('publish'), shard: await sentToOthers('publishshard') };
    for (let i = 0; i < 5; i++) await expectAnnounced({ producer });
    expect(await sentToOthers('publish')).toBe(before.all);
    expect(await sentToOthers('publishshard')).toBeGreaterThanOrEqual(before.shard + 5);
  });

  test('arrive for all queues over one connection per primary', async () => {
    const queues = Array.from({ length: 12 }, () => randomName('queue'));
    const app = await startApp({ providers: queues.map((name) => handlerOf(name, handled.record)) });
    for (const name of queues) await untilAnnounced(1, name);
    const lists = await Promise.all(cluster().members.map((member) => cluster().ask(member, 'CLIENT', 'LIST')));
    const clients = lists.flatMap((list) => String(list).match(/name=delay-queue:\S+ .*\bssub=\d+/g) ?? []);
    const listening = clients.filter((client) => client.startsWith('name=delay-queue:announcements '));
    const primaries = new Set<ClusterMember>();
    // One after the other: each asks all servers, and a flood of connections may take longer than each may wait.
    for (const name of queues) primaries.add(await cluster().primaryOf(keyOf(name)));
    expect(listening).toHaveLength(primaries.size);
    await Promise.all(queues.map((name) => expectAnnounced(app, name)));
  });

  test('use one connection per primary, as commands do; wake-up signals use one per queue', async () => {
    const queues = Array.from({ length: 20 }, () => randomName('queue'));
    const primaries = new Set<ClusterMember>();
    for (const name of queues) primaries.add(await cluster().primaryOf(keyOf(name)));
    expect(primaries.size).toBe(3);
    await startApp({ providers: queues.map((name) => handlerOf(name, handled.record)) });
    const expected = { commands: 3, announcements: 3, 'wake-signals': 20 };
    await until(async () => JSON.stringify(await connections()) === JSON.stringify(expected));
  });

  test('about a queue reach all processes of its family, even if one of them already consumes that queue', async () => {
    const family = randomName('tenant');
    const app = await startConsumer(`${family}-*`);
    const announced: string[] = [];
    let isListening = false;
    new NativeQueueDirectory(connect(), 'delay-queue').watch(
      { name: `${family}-*`, hasGroups: false },
      { onListening: () => (isListening = true), onEarlierDue: (name) => announced.push(name) },
    );
    await until(() => isListening);
    for (let i = 1; i <= 3; i++) {
      await expectAnnounced(app, `${family}-1`);
      await until(() => announced.length === i);
    }
    expect(new Set(announced)).toEqual(new Set([`${family}-1`]));
  });

  test.each(['queue', 'family'])('reach processes that have different group options for the same %s', async (what) => {
    const name = what === 'queue' ? queue : `${queue}-*`;
    const apps: TestApp[] = [];
    for (const concurrency of [1, 2]) {
      apps.push(await startApp({ providers: [handlerOf(name, handled.record, { groups: { concurrency } })] }));
    }
    const reported = () =>
      apps.flatMap(({ log }) => log.filter((line) => line.includes(`${name}: this process has groups`)));
    await until(() => reported().length >= 2, { within: 10_000 });
    expect(reported()).toHaveLength(2);
  });

  test('require the documented permissions, which are checked at startup', async () => {
    const rules = [...(await printedRules('operations.md', 'worker')), ...IN_CLUSTER];
    const connectionOf = async (userRules: readonly string[]): Promise<Connection> => {
      const username = randomName('worker');
      for (const member of cluster().members) {
        await cluster().ask(member, 'ACL', 'SETUSER', username, 'reset', ...userRules);
      }
      return { cluster: { nodes: cluster().nodes, options: { redisOptions: { username, password: 'secret' } } } };
    };
    const app = await startConsumer(queue, await connectionOf(rules));
    await untilAnnounced(1);
    await expectAnnounced(app);
    expect(app.log.filter((line) => /NOPERM|permission/.test(line))).toEqual([]);
    const lacking = rules.filter((rule) => rule !== '+spublish' && rule !== '+ssubscribe');
    await expect(startConsumer(queue, await connectionOf(lacking))).rejects.toMatchObject({
      code: 'MISSING_PERMISSION',
      message: expect.stringContaining(`+spublish +ssubscribe on ${channelOf(queue)}`),
    });
  });

  describe('are received again', () => {
    test('after a planned failover', async () => {
      const producer = await startProducer();
      await startConsumer();
      await untilAnnounced(1);
      await cluster().failOver(keyOf(queue));
      await untilAnnounced(1);
      await expectAnnounced({ producer });
    });

    test('after the primary was killed', async () => {
      const producer = await startProducer();
      const { log } = await startConsumer();
      await untilAnnounced(1);
      const former = await cluster().primaryOf(keyOf(queue));
      await former.server.kill9();
      await cluster().untilReplaced(keyOf(queue), former);
      await untilAnnounced(1);
      await expectAnnounced({ producer });
      await former.server.restart();
      const levels = () => log.filter((line) => line.includes('announcements')).map((line) => line.split(' ')[0]);
      await until(() => levels().includes('error') && levels().at(-1) === 'log');
    });

    describe.each<[string, () => Connection]>([
      ['ioredis 6', () => (overrides) => new Cluster(cluster().nodes, { ...overrides, redisOptions: overrides })],
      ['ioredis 5', () => (overrides) => new OlderCluster(cluster().nodes, { ...overrides, redisOptions: overrides })],
    ])('with %s', (_version, connectionOf) => {
      /** Moves the slot to another primary, and perhaps back, or to a third one. */
      const move = async () => (await cluster().beginMove(keyOf(queue))).finish();

      /** The server ends all subscriptions to the slot, which stays where it is. */
      async function giveUpAndTakeBack(): Promise<void> {
        const primary = await cluster().primaryOf(keyOf(queue));
        const slot = hashSlot(keyOf(queue));
        for (const change of ['DELSLOTS', 'ADDSLOTS']) await cluster().ask(primary, 'CLUSTER', change, slot);
      }

      test('after the slot has moved, and again after a second move', async () => {
        const producer = await startProducer();
        const { log } = await startConsumer(queue, connectionOf());
        await untilAnnounced(1);
        for (let i = 0; i < 2; i++) {
          await move();
          await untilAnnounced(1);
          await expectAnnounced({ producer });
        }
        expect(log.filter((line) => line.startsWith('error'))).toEqual([]);
      });

      test.each([
        ['has moved', move],
        ['has failed over', () => cluster().failOver(keyOf(queue))],
        ['was given up and taken back', giveUpAndTakeBack],
      ])('by a listener that sends no commands, and that checks again after the slot %s', async (_what, happen) => {
        const announced: string[] = [];
        let looks = 0;
        connect(connectionOf()).announcements.listen(channelOf(queue), {
          onMessage: (text) => announced.push(text),
          onListening: () => looks++,
        });
        await until(() => looks === 1);
        await happen();
        await until(() => looks > 1);
        await untilAnnounced(1);
        await cluster().ask(await cluster().primaryOf(keyOf(queue)), 'SPUBLISH', channelOf(queue), 'hello');
        await until(() => announced.length > 0);
        expect(announced).toEqual(['hello']);
      });
    });
  });
});
