import { beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../lib/timing/clock.js';
import {
  directoryKeys,
  directoryPermissions,
  NativeQueueDirectory,
  placeFunction,
  retireFunction,
} from '../../lib/store/native/native-directory.js';
import {
  listWorkersFunction,
  NativeWorkerRegistry,
  registryKeys,
  registryPermissions,
  reportWorkerFunction,
} from '../../lib/store/native/native-worker-registry.js';
import { groupKeys, nativeKeys } from '../../lib/store/native/native-keys.js';
import { printedRules } from '../support/access-rules.js';
import { LoggedEvents } from '../support/logged-events.js';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';
import { CommandTrace } from './exercise/command-trace.js';
import { placesIn, TracedConnections } from './exercise/traced-connections.js';

const PREFIX = 'delay-queue';
const FAMILY = 'tenant-*';

describe('the permissions for the directory of queues and the registry of workers', () => {
  const scene = new Scene({});
  let trace: CommandTrace;
  /** The number of commands that a process that handles queues has run to report itself. */
  let byRegistry: number;
  /** The number of commands that the calls of a producer have run. */
  let byProducer: number;

  beforeAll(async () => {
    const own = { ...directoryKeys(PREFIX), ...registryKeys(PREFIX) };
    const keys = { ...own, due: nativeKeys(PREFIX, FAMILY).due, lane: groupKeys(PREFIX, FAMILY).due };
    trace = await CommandTrace.start(scene.redis, keys);
    const events = new LoggedEvents();
    const settings = { connection: scene.url, clock: systemClock, events, commandTimeout: 5000 };
    const connections = new TracedConnections(settings);
    const directory = new NativeQueueDirectory(connections, PREFIX);
    const registry = new NativeWorkerRegistry(connections, PREFIX);
    await registry.report('old', '{}');
    await scene.redis.zadd(own.seen, 0, 'old');
    await registry.report('id', '{}');
    await registry.remove('another');
    byRegistry = trace.commands.length;
    expect((await registry.list({ after: '', limit: 10 })).reports).toHaveLength(1);
    await directory.register('tenant-1');
    await directory.handled();
    expect(await directory.place('')).toBe('');
    expect(await directory.place('id')).toBe('id');
    expect(await directory.place('another')).toBe('id');
    await directory.list({ after: '', limit: 10 });
    await until(() => trace.commands.some(({ name, part }) => name === 'ZRANGE' && part === 'names'));
    byProducer = trace.commands.length;
    await directory.registerHandled(['orders', FAMILY]);
    directory.watch({ name: FAMILY, hasGroups: true }, { onEarlierDue: () => undefined, onListening: () => undefined });
    await until(() => trace.commands.filter(({ name }) => name === 'PSUBSCRIBE').length === 2);
    const { registrations } = await directory.listRegistered(FAMILY);
    expect(await directory.retire({ queue: 'tenant-1', stamp: 'another' }, 'forgotten')).toBe(false);
    expect(await directory.retire(registrations[0]!, 'forgotten')).toBe(true);
    await trace.end();
    await connections.close();
  });

  test('are derived from a run that reaches every Redis call in its functions', () => {
    const places = [retireFunction, placeFunction, reportWorkerFunction, listWorkersFunction].flatMap(({ scripts }) =>
      scripts.flatMap(({ source }) => placesIn(source)),
    );
    expect(
      places.filter((place) => /^(place|retire|report-worker|list-workers)#/.test(place) && !trace.places.has(place)),
    ).toEqual([]);
  });

  test('cover exactly the commands that were run', () => {
    const rows = Object.entries({
      ...directoryPermissions,
      ...registryPermissions,
      due: ['PSUBSCRIBE'],
      lane: ['PSUBSCRIBE'],
    }).flatMap(([part, names]) => (names as string[]).map((name) => `${part} ${name}`));
    const run = new Set(trace.commands.flatMap(({ name, part }) => (part === undefined ? [] : [`${part} ${name}`])));
    expect([...run].sort()).toEqual(rows.sort());
  });

  test('are among those documented for a process that only produces', async () => {
    const printed = await printedRules('operations.md', 'producer');
    const needed = trace.commands.slice(byRegistry, byProducer).map(({ name }) => `+${name.toLowerCase()}`);
    expect(needed.length).toBeGreaterThan(2);
    expect(needed.filter((rule) => !printed.includes(rule))).toEqual([]);
  });

  test('are among those documented for a process that handles queues', async () => {
    const printed = await printedRules('operations.md', 'worker');
    const needed = trace.commands.slice(0, byProducer).map(({ name }) => `+${name.toLowerCase()}`);
    expect(needed.filter((rule) => !printed.includes(rule))).toEqual([]);
  });
});
