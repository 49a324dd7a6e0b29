import { afterAll, describe, expect, it } from '@jest/globals';
import { RedisConnections } from '../../lib/redis/redis-connections.js';
import { MemoryQueueDirectory } from '../../lib/store/memory/memory-stores.js';
import { NativeQueueDirectory } from '../../lib/store/native/native-directory.js';
import type { QueueDirectory, Registration } from '../../lib/store/queue-directory.js';
import { systemClock } from '../../lib/timing/clock.js';
import { randomName } from '../support/random-name.js';
import { LoggedEvents } from '../support/logged-events.js';
import { sharedRedisUrl } from '../support/redis/shared-redis.js';

const connections = new RedisConnections({
  ...{ connection: sharedRedisUrl(), clock: systemClock, events: new LoggedEvents() },
  ...{ commandTimeout: 5000, heartbeat: 60_000 },
});
afterAll(() => connections.close());

const DIRECTORIES: Record<string, () => QueueDirectory> = {
  'in memory': () => new MemoryQueueDirectory(),
  'in Redis': () => new NativeQueueDirectory(connections, randomName('prefix')),
};

describe.each(Object.entries(DIRECTORIES))('the queue directory %s', (_, open) => {
  const namesIn = (directory: QueueDirectory) => directory.list({ after: '', limit: 10 });

  async function registrationOf(directory: QueueDirectory, queue: string): Promise<Registration> {
    const { registrations } = await directory.listRegistered('tenant-*');
    return registrations.find((each) => each.queue === queue)!;
  }

  it('no longer lists a retired queue if nothing is left in it', async () => {
    const directory = open();
    await directory.register('tenant-1');
    await directory.register('tenant-2');
    expect(await directory.retire(await registrationOf(directory, 'tenant-1'), 'forgotten')).toBe(true);
    expect(await namesIn(directory)).toEqual(['tenant-2']);
  });

  it('still lists a retired queue if something is left in it', async () => {
    const directory = open();
    await directory.register('tenant-1');
    expect(await directory.retire(await registrationOf(directory, 'tenant-1'), 'kept')).toBe(true);
    expect(await namesIn(directory)).toEqual(['tenant-1']);
    expect((await directory.listRegistered('tenant-*')).registrations).toEqual([]);
  });

  it('still lists a queue that was registered again before it could be retired', async () => {
    const directory = open();
    await directory.register('tenant-1');
    const seen = await registrationOf(directory, 'tenant-1');
    await directory.register('tenant-1');
    expect(await directory.retire(seen, 'forgotten')).toBe(false);
    expect(await namesIn(directory)).toEqual(['tenant-1']);
    expect(await registrationOf(directory, 'tenant-1')).toBeDefined();
  });

  it('still lists a queue that a process has handled by name', async () => {
    const directory = open();
    await directory.registerHandled(['tenant-1']);
    await directory.register('tenant-1');
    expect(await directory.retire(await registrationOf(directory, 'tenant-1'), 'forgotten')).toBe(true);
    expect(await namesIn(directory)).toEqual(['tenant-1']);
  });

  it('lists queues that a process handles, even before their first message, but no families', async () => {
    const directory = open();
    await directory.registerHandled(['orders', 'tenant-*']);
    expect(await namesIn(directory)).toEqual(['orders']);
    expect([...(await directory.handled())].sort()).toEqual(['orders', 'tenant-*']);
  });

  it("tells a family's listener that it listens, because it may have missed something until then", async () => {
    const directory = open();
    let stop = () => {};
    const listens = new Promise<void>((resolve) => {
      stop = directory.watch(
        { name: 'tenant-*', hasGroups: true },
        { onListening: resolve, onEarlierDue: () => undefined },
      );
    });
    await expect(listens).resolves.toBeUndefined();
    stop();
  });

  it('lists a forgotten queue again when it is registered again', async () => {
    const directory = open();
    await directory.register('tenant-1');
    await directory.retire(await registrationOf(directory, 'tenant-1'), 'forgotten');
    await directory.register('tenant-1');
    expect(await namesIn(directory)).toEqual(['tenant-1']);
  });
});
