import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Visit } from '../../lib/consumer/partition-worker.js';
import { FailureStreak, workFailures } from '../../lib/events/failure-streak.js';
import type { MemberWorker } from '../../lib/families/family-member.js';
import { Family } from '../../lib/families/family.js';
import { HandlerRegistry } from '../../lib/handler/handler-registry.js';
import { resolveQueueOptions } from '../../lib/options/resolve-options.js';
import { MisspeltNames } from '../../lib/runtime/misspelt-names.js';
import { QueueRegistrar } from '../../lib/runtime/queue-registrar.js';
import { NativeQueueDirectory } from '../../lib/store/native/native-directory.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { NativeMessageStore } from '../../lib/store/native/native-store.js';
import type { QueueDirectory } from '../../lib/store/queue-directory.js';
import { RedisConnections } from '../../lib/redis/redis-connections.js';
import { type Clock, systemClock } from '../../lib/timing/clock.js';
import { LoggedEvents } from '../support/logged-events.js';
import { Scene } from '../support/scene.js';

/** How much faster the clock of the registrations runs, so that minutes pass in seconds. Their margin of error shrinks as well. */
const SPEED = 40;
const QUEUES = 60;
const FAMILIES = 3;
const DURATION = 20_000;

const fastClock: Clock = {
  monotonic: () => systemClock.monotonic() * SPEED,
  wall: () => systemClock.wall(),
  schedule: (task, delay) => systemClock.schedule(task, delay / SPEED),
  schedulePunctually: (task, delay) => systemClock.schedule(task, delay / SPEED),
};

/** Hears nothing, so that only the registrations tell where messages are. */
class DeafDirectory extends NativeQueueDirectory {
  override watch: QueueDirectory['watch'] = () => () => undefined;
}

/** Only looks. */
class Looker implements MemberWorker {
  readonly held = 0;
  readonly usage = { slots: 1, used: 0, longest: undefined };
  readonly isQuiet = true;

  constructor(private readonly store: NativeMessageStore) {}

  async visit(): Promise<Visit> {
    const { nextIn } = await this.store.transfer({ limit: 1000 });
    return { hasFound: false, isMore: false, nextIn };
  }

  start = () => undefined;
  stopClaiming = () => Promise.resolve();
  drained = () => Promise.resolve();
  abort = () => undefined;
  abortHandlers = () => undefined;
  abandon = () => undefined;
}

describe('a queue that becomes empty while another process offers to it', () => {
  const scene = new Scene({});
  const opened: RedisConnections[] = [];
  const events = new LoggedEvents();
  const limits = resolveQueueOptions();
  let producing: RedisConnections;

  function connect(): RedisConnections {
    const settings = { connection: scene.url, clock: systemClock, events, commandTimeout: 5000, heartbeat: 5000 };
    const connections = new RedisConnections(settings);
    opened.push(connections);
    return connections;
  }

  beforeAll(() => {
    producing = connect();
  });
  afterAll(() => Promise.all(opened.map((connections) => connections.close())));

  const storeOf = (connections: RedisConnections, queue: string) =>
    new NativeMessageStore(connections, { keys: nativeKeys(scene.prefix, queue), limits });

  /** Retires whatever is empty, as in a process of its own. Its members forget at once, so that they repair nothing. */
  function startFamily(onRetired: () => void): Family {
    const connections = connect();
    const directory = new DeafDirectory(connections, scene.prefix);
    const retire = directory.retire.bind(directory);
    directory.retire = async (registration, name) => {
      const retired = await retire(registration, name);
      if (retired) onRetired();
      return retired;
    };
    directory.register = () => Promise.resolve();
    const family = new Family({
      name: 'race-*',
      has: () => true,
      directory,
      clock: fastClock,
      streak: new FailureStreak(fastClock, workFailures(events, 'find-queues', 'race-*')),
      checkInterval: 4000,
      remainsOf: () => Promise.resolve('nothing'),
      source: {
        open: (queue) => new Looker(storeOf(connections, queue)),
        closed: () => undefined,
      },
    });
    family.start();
    return family;
  }

  test('is registered whenever it holds a message whose offer was acknowledged', async () => {
    let retired = 0;
    let looks = 0;
    const lost: string[] = [];
    const families = Array.from({ length: FAMILIES }, () => startFamily(() => retired++));
    const directory = new NativeQueueDirectory(producing, scene.prefix);
    const names = new MisspeltNames(
      { directory },
      { queues: {}, defaults: {} },
      new HandlerRegistry(),
      new LoggedEvents(),
    );
    const registrar = new QueueRegistrar({ directory }, { offerTimeout: 0 }, fastClock, events, names);
    const end = performance.now() + DURATION;

    /** Offers and takes away again, at intervals around those at which the producer and the families forget. */
    async function offerAgainAndAgain(queue: string): Promise<void> {
      const store = storeOf(producing, queue);
      while (performance.now() < end) {
        const registered = registrar.register(queue);
        await store.offer([{ id: 'm', due: { after: 3_600_000 }, onDuplicate: 'keep', body: 'J1' }]);
        await registered;
        for (let i = Math.floor(Math.random() * 4); i >= 0; i--) {
          looks++;
          if ((await scene.redis.hexists(`${scene.prefix}:{@queues}:registered`, queue)) === 0) lost.push(queue);
          await sleep(Math.random() * 40);
        }
        await store.cancel('m');
        await sleep(Math.random() < 0.5 ? Math.random() * 100 : 2500 + Math.random() * 2000);
      }
    }

    await Promise.all(Array.from({ length: QUEUES }, (_, i) => offerAgainAndAgain(`race-${i}`)));
    await Promise.all(families.map((family) => family.stopClaiming()));
    console.log(`${looks} looks at queues with a message, ${retired} retirements of empty ones`);
    expect(lost).toEqual([]);
    expect(retired).toBeGreaterThan(QUEUES);
    expect(events.lines).toEqual([]);
  });
});
