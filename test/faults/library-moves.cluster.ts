import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { FunctionLibraries } from '../../lib/diagnosis/index.js';
import { ownFunctions, RedisLibrary } from '../../lib/redis/script/redis-library.js';
import { nativeLibrary } from '../../lib/store/native/native-library.js';
import { CommandCount } from '../support/command-count.js';
import { Handled } from '../support/handled.js';
import { randomName } from '../support/random-name.js';
import type { ClusterMember } from '../support/redis/redis-cluster.js';
import { useCluster } from '../support/redis/use-cluster.js';
import { handlerOf, startTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

describe('libraries in a cluster', () => {
  const cluster = useCluster();

  test('are listed if any primary has them, and deleted from each primary that has them', async () => {
    const text = `local function run()\n  return 1\nend\n\nregister('offer', {}, run)\n`;
    const old = new RedisLibrary(nativeLibrary.purpose, [{ read: () => text, modules: [], functions: ['offer'] }]);
    const [first, second, third] = await cluster().primaries();
    for (const primary of [first!, second!]) await cluster().ask(primary, 'FUNCTION', 'LOAD', old.source);
    const foreign = `#!lua name=${old.name}\nredis.register_function('f', function() return 1 end)\n`;
    await cluster().ask(third!, 'FUNCTION', 'LOAD', foreign);
    const libraries = new FunctionLibraries({ connection: { cluster: { nodes: cluster().nodes } } });
    expect(await libraries.list()).toEqual([{ name: old.name, purpose: old.purpose, isCurrent: false }]);
    expect(await libraries.delete([old.name])).toEqual([old.name]);
    expect(await libraries.list()).toEqual([]);
    await libraries.close();
    const left = (primary: ClusterMember) => cluster().ask(primary, 'FUNCTION', 'LIST', 'LIBRARYNAME', old.name);
    expect([await left(first!), await left(second!)]).toEqual([[], []]);
    expect(await left(third!)).toHaveLength(1);
  });
});

describe('a queue in a cluster whose keys move to another server', () => {
  const cluster = useCluster();
  const clients: Redis[] = [];
  let app: TestApp;
  let queue: string;
  let handled: Handled;

  beforeEach(async () => {
    queue = randomName('queue');
    handled = new Handled();
    const connection = { cluster: { nodes: cluster().nodes } };
    app = await startTestApp({ connection, offerTimeout: '30s' }, { providers: [handlerOf(queue, handled.record)] });
    await handleOne('before');
    await app.producer.offer(queue, 'kept', '1h', { id: 'kept' });
  });

  afterEach(async () => {
    await app.close();
    for (const client of clients.splice(0)) client.disconnect();
  });

  const key = () => `delay-queue:{${queue}}:delayed`;

  async function handleOne(id: string): Promise<void> {
    await app.producer.offer(queue, id, 0, { id });
    await handled.until(id);
  }

  const has = async (member: ClusterMember, { name }: RedisLibrary) =>
    ((await cluster().ask(member, 'FUNCTION', 'LIST', 'LIBRARYNAME', name)) as unknown[]).length > 0;

  /** Counts what a server carries out from now on, until the queue has been used there. */
  async function countAt({ server }: ClusterMember): Promise<CommandCount> {
    const client = new Redis(server.url);
    clients.push(client);
    return CommandCount.start(client);
  }

  /** Handles a new message and the one that was there before, and returns how many libraries the new server was sent. */
  async function loadsSince(count: CommandCount): Promise<number> {
    await handleOne('after');
    expect(await app.producer.reschedule(queue, 'kept', 0)).toBe(true);
    await handled.until('kept');
    expect(handled.ids).toEqual(['before', 'after', 'kept']);
    const calls = await count.stop();
    expect(calls.eval).toBeUndefined();
    return calls['function|load'] ?? 0;
  }

  test('finds the library there if that server was its replica', async () => {
    const replica = await cluster().replicaOf(key());
    await until(() => has(replica, nativeLibrary));
    const count = await countAt(replica);
    await cluster().failOver(key());
    expect(await loadsSince(count)).toBe(0);
  });

  test('loads the library there if that server was a replica that had not received it yet', async () => {
    const replica = await cluster().replicaOf(key());
    await until(() => has(replica, nativeLibrary));
    await cluster().ask(replica, 'CONFIG', 'SET', 'replica-read-only', 'no');
    await cluster().ask(replica, 'FUNCTION', 'FLUSH');
    const count = await countAt(replica);
    await cluster().failOver(key());
    // The other library checks permissions when a connection is back.
    await until(() => has(replica, ownFunctions.checkPermissions.library));
    expect(await loadsSince(count)).toBe(2);
  });

  test('loads the library there if the slot moves to a server that has never had it', async () => {
    const move = await cluster().beginMove(key());
    await cluster().ask(move.target, 'FUNCTION', 'FLUSH');
    const count = await countAt(move.target);
    await move.finish();
    expect(await loadsSince(count)).toBe(1);
    expect(await has(move.target, nativeLibrary)).toBe(true);
  });
});
