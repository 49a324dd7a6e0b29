import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TerminusModule } from '@nestjs/terminus';
import { DelayQueueBoardAdapter } from 'nestjs-delay-queue-bull-board';
import { type DelayQueueEvent, type DelayQueueProducer, RejectMessage } from '../../lib/index.js';
import { partitionOf } from '../../lib/message/partition-of.js';
import { directoryKeys } from '../../lib/store/native/native-directory.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { DelayQueueHealthIndicator } from '../../lib/terminus/index.js';
import { jsonLines } from '../support/command-line.js';
import { randomName } from '../support/random-name.js';
import type { ClusterMember, RedisCluster } from '../support/redis/redis-cluster.js';
import { useCluster } from '../support/redis/use-cluster.js';
import { refusalOf } from '../support/refusal.js';
import { handlerOf, startTestApp, type TestApp } from '../support/test-app.js';
import { runInProcess } from '../support/test-terminal.js';
import { until } from '../support/until.js';

const PREFIX = 'delay-queue';
const PARTITIONS = 12;
const ALL = Array.from({ length: PARTITIONS }, (_, partition) => partition);
const OFFER_TIMEOUT = 2500;
/** What a call may take while a shard does not answer, ms; less than `OFFER_TIMEOUT`. */
const QUICK = 1500;
/** How many messages of a state are in each partition. */
const EACH = 2;
const STATES = ['delayed', 'dead'] as const;
/** Enough to begin with each partition twice. */
const TURNS = 2 * PARTITIONS;

/** Faults of a primary and of its replica, each with its repair. */
const FAULTS: Readonly<Record<string, readonly ((member: ClusterMember) => Promise<void>)[]>> = {
  hangs: [({ server }) => server.freeze(), ({ server }) => server.thaw()],
  'is killed': [({ server }) => server.kill9(), ({ server }) => server.restart()],
};

const keyIn = (queue: string, partition: number) => nativeKeys(PREFIX, queue, partition).delayed;

function idsIn(partition: number): string[] {
  const ids: string[] = [];
  while (ids.length < EACH) {
    const id = randomName('message');
    if (partitionOf(id, PARTITIONS) === partition) ids.push(id);
  }
  return ids;
}

/** A queue whose partition 0 is, or is not, on the shard that has the directory of queues. */
async function queueBeside(cluster: RedisCluster, isBeside: boolean): Promise<string> {
  const home = await cluster.primaryOf(directoryKeys(PREFIX).names);
  for (;;) {
    const queue = randomName('orders');
    if (((await cluster.primaryOf(keyIn(queue, 0))) === home) === isBeside) return queue;
  }
}

async function timed<Result>(call: () => Promise<Result>): Promise<Result> {
  const begun = performance.now();
  const result = await call();
  expect(performance.now() - begun).toBeLessThan(QUICK);
  return result;
}

describe.each([
  ['is killed', 'with partition 0 and the directory'],
  ['hangs', 'with partition 0 and the directory'],
  ['is killed', 'with neither partition 0 nor the directory'],
])('when a shard %s and is not replaced (a shard %s)', (fault, which) => {
  const cluster = useCluster(['--cluster-require-full-coverage', 'no']);
  const events: DelayQueueEvent[] = [];
  let queue: string;
  let doomed: ClusterMember[];
  let missing: number[];
  let living: number[];
  let app: TestApp;
  let producer: DelayQueueProducer;

  const start = (providers: Parameters<typeof startTestApp>[1] = {}, consume = false) =>
    startTestApp(
      {
        connection: { cluster: { nodes: cluster().nodes } },
        queues: { [queue]: { partitions: PARTITIONS } },
        offerTimeout: OFFER_TIMEOUT,
        consume,
        observers: [{ event: (event: DelayQueueEvent) => void events.push(event) }],
      },
      providers,
    );

  beforeAll(async () => {
    const isFirst = which.startsWith('with partition 0');
    queue = await queueBeside(cluster(), isFirst);
    const shards: ClusterMember[] = [];
    for (const partition of ALL) shards.push(await cluster().primaryOf(keyIn(queue, partition)));
    const home = await cluster().primaryOf(directoryKeys(PREFIX).names);
    const primary = isFirst ? home : shards.find((shard) => shard !== home && shard !== shards[0])!;
    missing = ALL.filter((partition) => shards[partition] === primary);
    living = ALL.filter((partition) => shards[partition] !== primary);
    doomed = [await cluster().replicaOf(keyIn(queue, missing[0]!)), primary];

    const refuse = () => Promise.reject(new RejectMessage('refused'));
    const failing = await start({ providers: [handlerOf(queue, refuse)] }, true);
    const dead = ALL.flatMap(idsIn).map((id) => ({ id, payload: null, delay: 0 }));
    await failing.producer.offerMany(queue, dead);
    await until(async () => (await failing.producer.counts(queue)).dead === dead.length);
    await failing.close();

    app = await start({ imports: [TerminusModule], providers: [DelayQueueHealthIndicator] });
    ({ producer } = app);
    const delayed = ALL.flatMap(idsIn).map((id) => ({ id, payload: null, delay: '1h' as const }));
    await producer.offerMany(queue, delayed);
    expect(await producer.counts(queue)).toEqual({ delayed: delayed.length, ready: 0, active: 0, dead: dead.length });
    for (const member of doomed) await FAULTS[fault]![0]!(member);
  });

  afterAll(() => app.close());

  test('reads of the whole queue return at once from the remaining partitions and name the missing ones', async () => {
    const each = living.length * EACH;
    for (let round = 0; round < 2; round++) {
      expect(await timed(() => producer.counts(queue))).toEqual({
        delayed: each,
        ready: 0,
        active: 0,
        dead: each,
        missing,
      });
      for (const state of STATES) {
        const page = await timed(() => producer.list(queue, state, { limit: 1000 }));
        expect(page).toMatchObject({ missing, cursor: null });
        expect(page.messages.map(({ id }) => partitionOf(id, PARTITIONS)).sort((a, b) => a - b)).toEqual(
          living.flatMap((partition) => [partition, partition]),
        );
      }
      expect(await timed(() => producer.list(queue, 'ready'))).toEqual({ messages: [], cursor: null, missing });
      const letters = await timed(() => producer.deadLetters(queue).list({ limit: 1000 }));
      expect({ ...letters, messages: letters.messages.length }).toEqual({ messages: each, cursor: null, missing });
    }
  });

  test('reads that cannot name partitions return from the remaining ones, and an event names the missing ones', async () => {
    expect(await timed(() => producer.isPaused(queue))).toBe(false);
    expect(await timed(() => producer.nextDue(queue))).toBeInstanceOf(Date);
    const each = living.length * EACH;
    expect(await timed(() => producer.countsByType(queue))).toEqual(
      new Map([['', { delayed: each, ready: 0, active: 0, dead: each }]]),
    );
    expect(events).toContainEqual({ name: 'partitions-missing', queue, missing, partitions: PARTITIONS });
    expect(app.log.filter((line) => line.includes(`${queue}: ${missing.length} of`))).toHaveLength(1);
  });

  test('a pause of the whole queue fails instead of silently leaving out partitions', async () => {
    expect(await refusalOf(producer.pause(queue))).toMatchObject({ code: /^(NOT_CONNECTED|OUTCOME_UNKNOWN)$/ });
    await refusalOf(producer.resume(queue));
  });

  test('generated ids go to partitions that answer', async () => {
    const offered: string[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      const { id } = await timed(() => producer.offer(queue, turn, '1h'));
      const list = await timed(() => producer.offerMany(queue, [{ payload: turn, delay: '1h' }]));
      offered.push(id, list[0]!.id);
    }
    const places = new Set(offered.map((id) => partitionOf(id, PARTITIONS)));
    expect(missing.filter((partition) => places.has(partition))).toEqual([]);
    const offerMore = async () => places.add(partitionOf((await producer.offer(queue, 1, '1h')).id, PARTITIONS));
    await until(async () => (await offerMore()).size > 1);
  });

  test('given ids keep their partition, so only offers to missing partitions fail', async () => {
    const [lost, kept] = [idsIn(missing[0]!)[0]!, idsIn(living[0]!)[0]!];
    await timed(() => producer.offer(queue, null, '1h', { id: kept }));
    const refusal = await refusalOf(producer.offer(queue, null, '1h', { id: lost }));
    expect(refusal).toMatchObject({ code: 'NOT_CONNECTED', messageId: lost });
  });

  test("the application's health is degraded and names the missing partitions", async () => {
    const indicator = app.context.get(DelayQueueHealthIndicator);
    const { health } = await timed(() => indicator.check('health', { queues: [queue] }));
    expect(health).toMatchObject({
      status: 'degraded',
      queues: { [queue]: { missing } },
      message: `partitions do not answer: ${queue} (${missing.join(', ')})`,
    });
  });

  test('the command line names the missing partitions', async () => {
    const { url } = (await cluster().primaryOf(keyIn(queue, living[0]!))).server;
    const run = (...words: string[]) => runInProcess({ url, prefix: PREFIX }, ...words, '--cluster', '--timeout', '3s');
    // At the same time, because each waits for the partitions until its timeout.
    const [counts, asJson, byType, list] = await Promise.all([
      run('counts', queue),
      run('counts', queue, '--json'),
      run('counts', queue, '--by-type'),
      run('list', queue, 'dead'),
    ]);
    const note = `partitions do not answer: ${queue} (${missing.join(', ')})`;
    expect(counts).toMatchObject({ code: 0, problems: expect.stringContaining(note) });
    const [record] = jsonLines(asJson.output);
    expect(record).toMatchObject({ queue, missing });
    expect(byType.problems).toContain(note);
    expect(list).toMatchObject({ code: 0, problems: expect.stringContaining(note) });
  });

  test('the board marks the queue as incomplete', async () => {
    const adapter = new DelayQueueBoardAdapter(producer, queue, { description: 'Unpaid orders' });
    await timed(() => adapter.getJobCounts());
    expect(adapter.getDescription()).toBe(`Unpaid orders. Incomplete: partitions ${missing.join(', ')} do not answer.`);
  });

  test('a newly started process offers to the remaining partitions and reads them', async () => {
    const late = await start();
    for (let turn = 0; turn < TURNS; turn++) {
      const { id } = await timed(() => late.producer.offer(queue, turn, '1h'));
      expect(living).toContain(partitionOf(id, PARTITIONS));
    }
    expect(await timed(() => late.producer.counts(queue))).toMatchObject({ missing });
    await late.close();
  });

  test('a process configured with a rate reports in an event that the queue has partitions', async () => {
    const reported: DelayQueueEvent[] = [];
    const settings = { partitions: 1, rate: { max: 10, per: '1s' }, checkInterval: '1s' };
    const observer = { event: (event: DelayQueueEvent) => void reported.push(event) };
    const limited = await startTestApp(
      { connection: { cluster: { nodes: cluster().nodes } }, queues: { [queue]: settings }, observers: [observer] },
      { providers: [handlerOf(queue, () => undefined)] },
    );
    const isRefusal = (event: DelayQueueEvent) =>
      event.name === 'server-unsupported' && event.reason.includes('is configured with a rate');
    await until(() => reported.some(isRefusal));
    expect(reported.find(isRefusal)).toMatchObject({ name: 'server-unsupported' });
    await limited.close();
  });

  test('no partition is missing once the shard is back', async () => {
    for (const member of doomed.toReversed()) await FAULTS[fault]![1]!(member);
    await cluster().untilWhole();
    await until(async () => (await producer.counts(queue)).missing === undefined, { within: 20_000 });
    const places = new Set<number>();
    await until(async () => {
      places.add(partitionOf((await producer.offer(queue, 1, '1h')).id, PARTITIONS));
      return places.size === PARTITIONS;
    });
    expect((await producer.counts(queue)).missing).toBeUndefined();
  });
});
