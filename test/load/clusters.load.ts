import { afterAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { NativeMessageStore } from '../../lib/store/native/native-store.js';
import { RedisConnections } from '../../lib/redis/redis-connections.js';
import { systemClock } from '../../lib/timing/clock.js';
import { LoggedEvents } from '../support/logged-events.js';
import { randomName } from '../support/random-name.js';
import { useCluster } from '../support/redis/use-cluster.js';
import { startTestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The processor time that a process has used, µs. */
function cpuOf(pid: number): number {
  const [, , ...fields] = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, 'pid name ')
    .split(' ');
  // In ticks, a hundred a second: the time in the process itself and in the kernel.
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

describe('a cluster', () => {
  // A server that is blocked must not be replaced.
  const cluster = useCluster(['--cluster-node-timeout', '15000']);
  const closers: (() => Promise<void>)[] = [];
  const keysOf = (queue: string) => nativeKeys('delay-queue', queue);

  afterAll(() => Promise.all(closers.map((close) => close())));

  function storeOf(queue: string, command: 'PUBLISH' | 'SPUBLISH'): NativeMessageStore {
    const connection = { cluster: { nodes: cluster().nodes } };
    const settings = { connection, clock: systemClock, events: new LoggedEvents(), commandTimeout: 5000 };
    const connections = new RedisConnections({ ...settings, heartbeat: 60_000 });
    closers.push(() => connections.close());
    const database = command === 'SPUBLISH' ? 'cluster' : '0';
    Object.defineProperty(connections.announcements, 'databaseArgument', { value: database });
    return new NativeMessageStore(connections, {
      keys: keysOf(queue),
      limits: { attempts: 1, maxDeadLetters: 1, maxMessages: null },
    });
  }

  test('burdens other primaries less than half as much with SPUBLISH as with PUBLISH', async () => {
    const ROUNDS = 6;
    /** The time for which the servers are watched while nothing is announced, ms. */
    const IDLE = 5000;
    const OFFERS = 10_000;
    const queue = randomName('queue');
    const own = await cluster().primaryOf(keysOf(queue).delayed);
    const replica = await cluster().replicaOf(keysOf(queue).delayed);
    const others = cluster().members.filter((member) => member !== own && member !== replica);
    const cpuOfOthers = () => others.reduce((sum, { server }) => sum + cpuOf(server.pid!), 0) / others.length;
    const used = { PUBLISH: 0, SPUBLISH: 0 };
    const took = { PUBLISH: 0, SPUBLISH: 0 };
    let listening = 0;
    storeOf(queue, 'SPUBLISH').watchDue({ onEarlierDue: () => undefined, onListening: () => listening++ });
    await until(() => listening > 0);
    // Each falls due earlier than all before.
    let next = Date.now() + 24 * HOUR;
    const stores = { PUBLISH: storeOf(queue, 'PUBLISH'), SPUBLISH: storeOf(queue, 'SPUBLISH') };
    for (let round = 0; round < ROUNDS; round++) {
      for (const command of ['PUBLISH', 'SPUBLISH'] as const) {
        const [before, since] = [cpuOfOthers(), performance.now()];
        for (let i = 0; i < OFFERS; i += 50) {
          await Promise.all(
            Array.from({ length: 50 }, (_, j) =>
              stores[command].offer([
                { id: `${command}-${round}-${i + j}`, due: { at: next-- }, onDuplicate: 'reject', body: 'J1' },
              ]),
            ),
          );
        }
        await sleep(200);
        used[command] += cpuOfOthers() - before;
        took[command] += performance.now() - since;
      }
    }
    const before = cpuOfOthers();
    await sleep(IDLE);
    const idle = (cpuOfOthers() - before) / IDLE;
    const each = (kind: keyof typeof used) => ((used[kind] - idle * took[kind]) / ROUNDS / OFFERS).toFixed(2);
    console.log(
      `processor time of another server, for each announced offer: ${each('PUBLISH')} µs with PUBLISH, ` +
        `${each('SPUBLISH')} µs with SPUBLISH`,
    );
    expect(used.SPUBLISH).toBeLessThan(used.PUBLISH / 2);
    await stores.SPUBLISH.clear();
  });

  test('keeps all messages of a queue whose slot moves, and the time for which MIGRATE blocks its shard is measured', async () => {
    const MESSAGES = 200_000;
    const queue = randomName('queue');
    const app = await startTestApp({ connection: { cluster: { nodes: cluster().nodes } }, consume: false });
    closers.push(() => app.close());
    for (let i = 0; i < MESSAGES; i += 10_000) {
      await app.producer.offerMany(
        queue,
        Array.from({ length: 10_000 }, (_, j) => ({ payload: { order: i + j }, delay: '1h' })),
      );
    }
    const { server } = await cluster().primaryOf(keysOf(queue).delayed);
    const move = await cluster().beginMove(keysOf(queue).delayed);
    const { host, port } = move.target.server;
    const redis = new Redis(server.url);
    const since = performance.now();
    await redis.migrate(host, port, '', 0, MINUTE, 'KEYS', keysOf(queue).delayed, keysOf(queue).messages);
    const took = performance.now() - since;
    redis.disconnect();
    await move.finish();
    expect(await app.producer.counts(queue)).toMatchObject({ delayed: MESSAGES });
    console.log(
      `MIGRATE of a queue blocks its shard for ${Math.round((took * 100_000) / MESSAGES)} ms per 100,000 messages`,
    );
  });
});
