import { afterAll, describe, expect, it } from '@jest/globals';
import { RedisConnections } from '../../lib/redis/redis-connections.js';
import { MemoryWorkerRegistry } from '../../lib/store/memory/memory-worker-registry.js';
import { NativeWorkerRegistry, registryKeys } from '../../lib/store/native/native-worker-registry.js';
import { REPORT_VALID, type WorkerRegistry } from '../../lib/store/worker-registry.js';
import { systemClock } from '../../lib/timing/clock.js';
import { ManualClock } from '../support/manual-clock.js';
import { randomName } from '../support/random-name.js';
import { LoggedEvents } from '../support/logged-events.js';
import { sharedRedisUrl } from '../support/redis/shared-redis.js';

const connections = new RedisConnections({
  ...{ connection: sharedRedisUrl(), clock: systemClock, events: new LoggedEvents() },
  ...{ commandTimeout: 5000, heartbeat: 60_000 },
});
afterAll(() => connections.close());

interface RegistryUnderTest {
  readonly registry: WorkerRegistry;
  /** Lets the latest report of a process become this much older, ms. */
  age(id: string, ms: number): Promise<void>;
}

function inMemory(): RegistryUnderTest {
  const clock = new ManualClock();
  const registry = new MemoryWorkerRegistry(clock);
  return { registry, age: (_, ms) => clock.advance(ms) };
}

function inRedis(): RegistryUnderTest {
  const prefix = randomName('prefix');
  const age = async (id: string, ms: number) => {
    await connections.commands.send('ZINCRBY', registryKeys(prefix).seen, -ms, id);
  };
  return { registry: new NativeWorkerRegistry(connections, prefix), age };
}

const REGISTRIES = { 'in memory': inMemory, 'in Redis': inRedis };
const FIRST_PAGE = { after: '', limit: 1000 };

describe.each(Object.entries(REGISTRIES))('the registry of workers %s', (_, open) => {
  const idsIn = async (registry: WorkerRegistry) => (await registry.list(FIRST_PAGE)).reports.map(({ id }) => id);

  it('lists each process with its latest report, by id', async () => {
    const { registry } = open();
    await registry.report('b', 'first');
    await registry.report('a', 'other');
    await registry.report('b', 'second');
    const { reports, isMore } = await registry.list(FIRST_PAGE);
    expect(reports.map(({ id, report }) => [id, report])).toEqual([
      ['a', 'other'],
      ['b', 'second'],
    ]);
    expect(isMore).toBe(false);
  });

  it("tells when a report was stored by the store's clock", async () => {
    const { registry, age } = open();
    await registry.report('a', '1');
    const at = async () => (await registry.list(FIRST_PAGE)).reports[0]!.at;
    const reportedAt = await at();
    await age('b', 0);
    await registry.report('a', '2');
    expect((await at()) - reportedAt).toBeGreaterThanOrEqual(0);
    expect((await at()) - reportedAt).toBeLessThan(5000);
  });

  it('lists a process until its report is no longer valid', async () => {
    const { registry, age } = open();
    await registry.report('a', '1');
    await age('a', REPORT_VALID - 5000);
    expect(await idsIn(registry)).toEqual(['a']);
    await age('a', 5000);
    expect(await idsIn(registry)).toEqual([]);
    await registry.report('a', '2');
    expect(await idsIn(registry)).toEqual(['a']);
  });

  it('no longer lists a removed process', async () => {
    const { registry } = open();
    await registry.report('a', '1');
    await registry.report('b', '1');
    await registry.remove('a');
    await registry.remove('c');
    expect(await idsIn(registry)).toEqual(['b']);
  });

  it('lists a thousand processes in pages', async () => {
    const { registry } = open();
    const ids = Array.from({ length: 1000 }, (_each, i) => `process-${String(i).padStart(4, '0')}`);
    await Promise.all(ids.map((id) => registry.report(id, '1')));
    const found: string[] = [];
    let page = await registry.list({ after: '', limit: 300 });
    found.push(...page.reports.map(({ id }) => id));
    while (page.isMore) {
      page = await registry.list({ after: found.at(-1)!, limit: 300 });
      found.push(...page.reports.map(({ id }) => id));
    }
    expect(found).toEqual(ids);
  });

  it('skips processes whose reports are no longer valid, even if they would fill a page', async () => {
    const { registry, age } = open();
    for (const id of ['a', 'b', 'c']) {
      await registry.report(id, '1');
      await age(id, REPORT_VALID - 1000);
    }
    for (const id of ['a', 'b', 'c']) await age(id, 1000);
    await registry.report('d', '1');
    expect((await registry.list({ after: '', limit: 1 })).reports.map(({ id }) => id)).toEqual(['d']);
  });
});

describe('the registry of workers in Redis', () => {
  const sizesOf = async (prefix: string) => {
    const { workers, seen, reports } = registryKeys(prefix);
    const counts = [
      ['ZCARD', workers],
      ['ZCARD', seen],
      ['HLEN', reports],
    ] as const;
    return Promise.all(counts.map(async ([name, key]) => (await connections.commands.send(name, key)).number()));
  };
  const newRegistry = () => {
    const prefix = randomName('prefix');
    return { prefix, keys: registryKeys(prefix), registry: new NativeWorkerRegistry(connections, prefix) };
  };

  it('drops up to 100 reports that are no longer valid with each new one', async () => {
    const { prefix, keys, registry } = newRegistry();
    const ids = Array.from({ length: 250 }, (_, i) => `old-${i}`);
    await Promise.all(ids.map((id) => registry.report(id, '1')));
    await connections.commands.send('ZUNIONSTORE', keys.seen, 1, keys.seen, 'WEIGHTS', 0);
    for (const left of [151, 51, 1]) {
      await registry.report('new', '1');
      expect(await sizesOf(prefix)).toEqual([left, left, left]);
    }
  });

  it('leaves nothing of a removed process', async () => {
    const { prefix, registry } = newRegistry();
    await registry.report('a', '1');
    await registry.remove('a');
    expect(await sizesOf(prefix)).toEqual([0, 0, 0]);
  });

  it('lists a process again with its next report after all data was lost', async () => {
    const { keys, registry } = newRegistry();
    await registry.report('a', '1');
    await connections.commands.send('UNLINK', keys.workers, keys.seen, keys.reports);
    expect((await registry.list(FIRST_PAGE)).reports).toEqual([]);
    await registry.report('a', '2');
    expect((await registry.list(FIRST_PAGE)).reports).toMatchObject([{ id: 'a', report: '2' }]);
  });

  it('does not list a process whose report is far in the future, because the clock was set back', async () => {
    const { keys, registry } = newRegistry();
    await registry.report('a', '1');
    await connections.commands.send('ZINCRBY', keys.seen, REPORT_VALID + 5000, 'a');
    expect((await registry.list(FIRST_PAGE)).reports).toEqual([]);
  });

  it('ends a page once it has read 1 MiB, and goes on after it', async () => {
    const { registry } = newRegistry();
    const large = 'x'.repeat(300_000);
    for (const id of ['a', 'b', 'c', 'd', 'e']) await registry.report(id, large);
    const first = await registry.list(FIRST_PAGE);
    expect(first.reports.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(first.isMore).toBe(true);
    const second = await registry.list({ after: 'c', limit: 1000 });
    expect(second.reports.map(({ id }) => id)).toEqual(['d', 'e']);
    expect(second.isMore).toBe(false);
  });

  it('skips ids that something else has written', async () => {
    const { keys, registry } = newRegistry();
    await registry.report('b', '1');
    const now = Date.now();
    for (const id of [Buffer.from('a\xff', 'latin1'), Buffer.from('c\n'), Buffer.from([0xff])]) {
      await connections.commands.send('ZADD', keys.workers, 0, id);
      await connections.commands.send('ZADD', keys.seen, now, id);
      await connections.commands.send('HSET', keys.reports, id, 'x');
    }
    expect(await registry.list({ after: '', limit: 1 })).toMatchObject({ reports: [{ id: 'b' }] });
    expect(await registry.list({ after: 'b', limit: 1 })).toEqual({ reports: [], isMore: false });
  });
});
