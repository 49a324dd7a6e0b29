import { beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../lib/timing/clock.js';
import { RedisLibrary } from '../../lib/redis/script/redis-library.js';
import type { GroupRules, Rate, MessageStore, StoreLimits } from '../../lib/store/message-store.js';
import { announcerArgument } from '../../lib/store/native/script-arguments.js';
import { groupKeys, nativeKeys, type NativeKeys } from '../../lib/store/native/native-keys.js';
import {
  groupPermissions,
  groupRatePermissions,
  historyPermissions,
  keptIdPermissions,
  nativeLayout,
  nativePermissions,
  partitionPermissions,
} from '../../lib/store/native/native-layout.js';
import { NATIVE_MODULES, nativeFunctions, nativeLibrary } from '../../lib/store/native/native-library.js';
import { NativeRepeatMarks } from '../../lib/store/native/repeat-marks.js';
import { NativeMessageStore } from '../../lib/store/native/native-store.js';
import { offerArguments, transferArguments } from '../../lib/store/native/script-arguments.js';
import { redissonKeys } from '../../packages/redisson/src/redisson-keys.js';
import { redissonPermissions } from '../../packages/redisson/src/redisson-permissions.js';
import { redissonFunctions } from '../../packages/redisson/src/redisson-library.js';
import { RedissonMessageStore } from '../../packages/redisson/src/redisson-store.js';
import { readPage } from '../docs/pages.js';
import { commandRules, printedRules, rulesFor } from '../support/access-rules.js';
import { LoggedEvents } from '../support/logged-events.js';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';
import { CommandTrace } from './exercise/command-trace.js';
import { FollowersExercise } from './exercise/followers.exercise.js';
import { GroupsExercise, OneGroupStore } from './exercise/groups.exercise.js';
import { NativeExercise } from './exercise/native.exercise.js';
import { RedissonExercise } from '../../packages/redisson/test/redisson.exercise.js';
import { KeptIdsExercise } from './exercise/kept-ids.exercise.js';
import { RestoreExercise } from './exercise/restore.exercise.js';
import { damageIn, EXERCISE_LIMITS, StoreExercise } from './exercise/store.exercise.js';
import { placesIn, TracedConnections } from './exercise/traced-connections.js';

const QUEUE = { prefix: 'delay-queue', queue: 'orders' };

const KEPT_IDS = { for: 3_600_000, max: 1 };
const PAST = { idsFor: KEPT_IDS, history: { ...KEPT_IDS, payloads: true } };

describe('the permissions of each layout', () => {
  const scene = new Scene({});
  let native: CommandTrace;
  let groups: CommandTrace;
  let redisson: CommandTrace;

  beforeAll(async () => {
    native = await traceNative();
    groups = await traceGroups();
    redisson = await traceRedisson();
  });

  const settings = () => ({
    connection: scene.url,
    clock: systemClock,
    events: new LoggedEvents(),
    commandTimeout: 5000,
  });

  const abandonIn = (keys: NativeKeys) => (end: 'gone' | 'dead') => {
    if (end === 'gone') return scene.redis.hdel(keys.messages, end);
    return scene.redis.multi().del(keys.claims, keys.leases).zadd(keys.dead, 1, end).exec();
  };

  async function traceNative(): Promise<CommandTrace> {
    const keys = nativeKeys(QUEUE.prefix, QUEUE.queue);
    const trace = await CommandTrace.start(scene.redis, keys);
    const connections = new TracedConnections(settings());
    const limited = { ...EXERCISE_LIMITS, globalConcurrency: 1000 };
    const store = new NativeMessageStore(connections, { keys, limits: limited, partitioning: { text: '0 1' } });
    const damage = damageIn(scene.redis, keys);
    await watched(store, trace, ['SUBSCRIBE'], () => new StoreExercise(store, damage).run());
    const limits = { ...EXERCISE_LIMITS, maxMessages: null, rate: null };
    const unlimited = new NativeMessageStore(connections, { keys, limits, partitioning: { text: '0 1' } });
    await new NativeExercise(unlimited).run();
    await new FollowersExercise(unlimited, abandonIn(keys)).run();
    await new RestoreExercise(unlimited).run();
    const keeping = { ...limits, idsFor: KEPT_IDS };
    await new KeptIdsExercise(
      new NativeMessageStore(connections, { keys, limits: keeping, partitioning: { text: '0 1' } }),
    ).run();
    await new RestoreExercise(
      new NativeMessageStore(connections, { keys, limits: { ...limits, ...PAST }, partitioning: { text: '0 1' } }),
    ).runPast();
    const marks = new NativeRepeatMarks(connections, QUEUE.prefix);
    const repeat = { queue: QUEUE.queue, id: 'repeat', partitions: 1 };
    expect(await marks.has(repeat)).toBe(false);
    await marks.set(repeat);
    expect(await marks.has(repeat)).toBe(true);
    await scene.redis.del(keys.declared);
    // As in a cluster, while nobody listens there.
    const database = 'cluster';
    const asNew = { channel: keys.due, database, partitioning: '' };
    const rest = offerArguments([{ id: 'in a cluster', due: { at: 0 }, onDuplicate: 'reject', body: 'its body' }]);
    const complete = { keys, further: 1, args: { ...asNew, maxMessages: 0 }, rest };
    await connections.commands.run(nativeFunctions.offer, complete);
    await store.clear();
    await connections.commands.run(nativeFunctions.offer, { keys, args: asNew, rest });
    await store.clear();
    const announcer = announcerArgument({ scheduler: 'exercise', movedAt: null }, { channel: keys.due, database });
    const claim = { args: { token: 'in a cluster', limit: '1 1', lease: 1000 }, rest: [announcer] };
    await connections.commands.run(nativeFunctions.transferAndClaim, { keys, ...claim });
    await store.offer([{ id: 'aborted in a cluster', due: { at: 0 }, onDuplicate: 'keep', body: 'its body' }]);
    await store.transfer({ limit: 1 });
    await store.claim({ token: 'aborted', limit: 1, lease: 1000 });
    await connections.commands.run(nativeFunctions.abort, { keys, args: { ...asNew, id: 'aborted in a cluster' } });
    for (const [known, next, pause] of [
      ['0 1', '1 2 1', ''],
      ['2 4 2', '', '1'],
      ['3 4', '', '0'],
    ] as const) {
      const args = { known, next, pause, channel: keys.due, database };
      await connections.commands.run(nativeFunctions.agree, { keys, args });
    }
    // As happens before the number of partitions changes.
    await connections.commands.send('EXISTS', keys.messages, keys.followers, keys.kept);
    await trace.end();
    await connections.close();
    return trace;
  }

  async function traceGroups(): Promise<CommandTrace> {
    const keys = groupKeys(QUEUE.prefix, QUEUE.queue);
    const trace = await CommandTrace.start(scene.redis, keys);
    const connections = new TracedConnections(settings());
    const open = (concurrency: number | null, more: Partial<StoreLimits> = {}, rate: Rate | null = null) => {
      const limits = { ...EXERCISE_LIMITS, maxMessages: null, rate: null, ...more };
      return new OneGroupStore(connections, { ...QUEUE, limits, rules: { concurrency, onRetry: 'hold', rate } });
    };
    const store = open(1);
    // As many permits as the exercise of other messages takes at once.
    const free = open(1000, EXERCISE_LIMITS);
    const damageMessages = damageIn(scene.redis, keys);
    const lose = (id: string, record: Buffer) =>
      damageMessages.lose(id, Buffer.concat([record, Buffer.from('Ngroup\none\nits body')]));
    await watched(free, trace, ['SUBSCRIBE'], () => new StoreExercise(free, { ...damageMessages, lose }).run());
    await new FollowersExercise(free, abandonIn(keys)).run();
    for (const each of [free, store]) await new RestoreExercise(each).run();
    await new KeptIdsExercise(open(1000, { idsFor: KEPT_IDS })).run();
    await new RestoreExercise(open(1000, PAST)).runPast();
    const damage = () => scene.redis.multi().del(keys.permits, keys.held).hset(keys.held, 'gone', '1').exec();
    const loseRecord = (id: string) => scene.redis.hdel(keys.messages, id);
    await new GroupsExercise(store, open(2), open(null), damage, loseRecord).run();
    const limited = open(1000, { rate: { max: 1, per: 3_600_000 } });
    await limited.offer([{ id: 'waits', due: { at: 0 }, onDuplicate: 'keep', body: 'its body' }]);
    await limited.transfer({ limit: 1 });
    await limited.claim({ token: 'beyond the rate', limit: 2, lease: 1000 });
    await limited.clear();
    const slow = open(2, {}, { max: 1, per: 3_600_000 });
    for (const id of ['one', 'two', 'three'])
      await slow.offer([{ id, due: { at: 0 }, onDuplicate: 'keep', body: 'J1' }]);
    await slow.transfer({ limit: 3 });
    for (const token of ['within the rate', 'beyond the rate']) await slow.claim({ token, limit: 2, lease: 1000 });
    await slow.clear();
    // As in a cluster, while nobody listens there.
    await store.offer([{ id: 'aborted in a cluster', due: { at: 0 }, onDuplicate: 'keep', body: 'its body' }]);
    await store.transfer({ limit: 1 });
    await store.claim({ token: 'aborted', limit: 1, lease: 1000 });
    const abort = { id: 'aborted in a cluster', channel: keys.due, database: 'cluster', partitioning: '' };
    const further = { further: 1, args: { ...abort, groups: '1 hold' } };
    await connections.commands.run(nativeFunctions.abort, { keys, ...further });
    const asNew = { channel: keys.due, database: 'cluster', partitioning: '' };
    const body = 'Ngroup\none\nits body';
    const rest = offerArguments([{ id: 'in a cluster', due: { at: 0 }, onDuplicate: 'reject', body }]);
    const complete = { keys, further: 2, args: { ...asNew, maxMessages: 0, groups: '1 hold' }, rest };
    await connections.commands.run(nativeFunctions.offer, complete);
    await store.clear();
    await connections.commands.run(nativeFunctions.offer, { keys, args: asNew, rest });
    await store.clear();
    await trace.end();
    await connections.close();
    return trace;
  }

  async function traceRedisson(): Promise<CommandTrace> {
    const keys = redissonKeys(QUEUE);
    const trace = await CommandTrace.start(scene.redis, keys);
    const connections = new TracedConnections(settings());
    const own = { limits: EXERCISE_LIMITS, format: 'Bc0Lc0' as const, blockTimeout: 5000 };
    const store = new RedissonMessageStore(connections, { ...settings(), ...QUEUE, ...own });
    const waits = ['SUBSCRIBE', 'SUBSCRIBE', 'BLMOVE'];
    await watched(store, trace, waits, () => new RedissonExercise(store, scene.redis, keys).run());
    // As in a cluster, while nobody listens there.
    const announcer = { scheduler: 'exercise', movedAt: null };
    const announcing = { channel: keys.due, database: 'cluster' };
    const args = transferArguments({ limit: 1, announcer }, EXERCISE_LIMITS, announcing);
    await connections.commands.run(redissonFunctions.transfer, {
      keys,
      args: { ...args, unreadableError: '', readOn: 0 },
    });
    await trace.end();
    await connections.close();
    return trace;
  }

  /** Runs the exercise while the store is watched, once its waiting commands have been sent. */
  async function watched(store: MessageStore, trace: CommandTrace, waits: string[], run: () => Promise<void>) {
    const stop = store.watchDue({ onEarlierDue: () => undefined, onListening: () => undefined });
    await until(() => trace.commands.filter(({ name }) => waits.includes(name)).length >= waits.length);
    await run();
    stop();
  }

  test('are derived from a run that reaches every Redis call in the functions', () => {
    const unseen = (places: string[], ...traces: CommandTrace[]) =>
      [...new Set(places)].filter((place) => !traces.some((trace) => trace.places.has(place)));
    const ofDirectory = (place: string) => /^(place|retire|report-worker|list-workers)#/.test(place);
    expect(unseen(placesIn(nativeLibrary.source), native, groups).filter((place) => !ofDirectory(place))).toEqual([]);
    const ofModules = new Set(placesIn(new RedisLibrary('modules', [NATIVE_MODULES]).source));
    const places = placesIn(redissonFunctions.offer.library.source).filter((place) => !ofModules.has(place));
    expect(unseen(places, redisson)).toEqual([]);
  });

  test('cover exactly the commands that were run', () => {
    const rows = (permissions: object) =>
      Object.entries(permissions).flatMap(([part, names]) => (names as string[]).map((name) => `${part} ${name}`));
    const run = ({ commands }: CommandTrace) =>
      new Set(commands.flatMap(({ name, part }) => (part === undefined ? [] : [`${part} ${name}`])));
    expect([...run(native)].sort()).toEqual(
      [...rows(partitionPermissions), ...rows(historyPermissions), ...rows(keptIdPermissions), 'due SPUBLISH'].sort(),
    );
    expect([...run(groups)].sort()).toEqual(
      [
        ...rows({ ...groupPermissions, ...groupRatePermissions }),
        ...rows(historyPermissions),
        ...rows(keptIdPermissions),
        'due SPUBLISH',
      ].sort(),
    );
    expect([...run(redisson)].sort()).toEqual(
      [...rows({ ...redissonPermissions, ...nativePermissions }), 'due SPUBLISH'].sort(),
    );
  });

  test('leave out no command but TIME, which names no key', () => {
    const keyless = ({ commands }: CommandTrace) =>
      commands.flatMap(({ name, part }) => (part === undefined ? [name] : []));
    expect(new Set([native, groups, redisson].flatMap(keyless))).toEqual(new Set(['TIME']));
  });

  test('match the documentation for a process that only produces', async () => {
    const scripts = ['offer', 'cancel', 'reschedule', 'find', 'status', 'count-types', 'count-due', 'list'];
    const run = native.commands.filter(({ script, name }) => scripts.includes(script ?? '') && name !== 'SPUBLISH');
    const needed = [...run, ...['FCALL', 'FUNCTION|LOAD', 'EVAL', 'EVALSHA'].map((name) => ({ name }))];
    const printed = await printedRules('operations.md', 'producer');
    expect(commandRules(printed)).toEqual(rulesFor(needed, ['client|setname', 'info']));
  });

  test('match the documentation for a process that only produces messages with groups', async () => {
    const scripts = [
      ...['offer', 'cancel', 'reschedule', 'change', 'find', 'status', 'count-types', 'count-due', 'list', 'group'],
      ...['list-groups', 'list-holders'],
    ];
    const run = groups.commands.filter(({ script, name }) => scripts.includes(script ?? '') && name !== 'SPUBLISH');
    const producer = await printedRules('operations.md', 'producer');
    const further = rulesFor(run, []).filter((rule) => !producer.includes(rule));
    const [sentence] = /\*\*\[Groups\][^]*?\n- /.exec(await readPage('docs/operations.md'))!;
    const named = [...sentence.matchAll(/`(\+\w+)`/g)].map(([, rule]) => rule!);
    expect(further).toEqual(named.sort());
  });

  test('include those on group keys only for a worker whose messages may have groups', () => {
    const needed = (groups: GroupRules | null) =>
      nativeLayout
        .neededCommands({ ...QUEUE, partitions: 3, groups, isCluster: true })
        .map(({ target = '' }) => target);
    const isOfGroups = (target: string) => target.includes(':lane:');
    expect(needed(null).filter(isOfGroups)).toEqual([]);
    const targets = (...unused: string[]) =>
      Object.entries(groupKeys(QUEUE.prefix, QUEUE.queue)).flatMap(([part, key]) => (unused.includes(part) ? [] : key));
    const never = ['paused', 'rate', 'partitions', 'declared'];
    const rules: GroupRules = { concurrency: 1, onRetry: 'hold' };
    expect(new Set(needed(rules).filter(isOfGroups))).toEqual(new Set(targets(...never, 'rates')));
    expect(new Set(needed({ ...rules, rate: { max: 1, per: 1000 } }).filter(isOfGroups))).toEqual(
      new Set(targets(...never)),
    );
  });
});
