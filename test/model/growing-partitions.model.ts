import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { resolveQueueOptions } from '../../lib/options/resolve-options.js';
import { NativePartitions } from '../../lib/partitions/native-partitions.js';
import { PartitionRouter, stickyIds } from '../../lib/partitions/partition-router.js';
import { formatPartitioning, placesOf, widthOf, withCount } from '../../lib/partitions/partitioning.js';
import { placeOffers } from '../../lib/partitions/place-offers.js';
import { limitsOfPartition } from '../../lib/runtime/open-queue.js';
import type { OnDuplicate } from '../../lib/store/producer-store.js';
import type { MessageStore } from '../../lib/store/message-store.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { WholeQueue } from '../../lib/store/whole-queue.js';
import { RedisConnections } from '../../lib/redis/redis-connections.js';
import { systemClock } from '../../lib/timing/clock.js';
import { LoggedEvents } from '../support/logged-events.js';
import { Scene } from '../support/scene.js';
import { modelSettings } from './model-settings.js';

const HOUR = 3_600_000;
const PROCESSES = 3;

/** The content of the queue: bodies by id. */
type Model = Map<string, string>;

/** A queue as several processes know it. */
interface Real {
  readonly queue: string;
  readonly processes: NativePartitions[];
  /** Starts a process anew, with another number of partitions. */
  start(process: number, partitions: number): Promise<void>;
  /** Changes the number in partition 0 alone, as a process does that dies right after. */
  changeAndDie(partitions: number): Promise<void>;
  /** The partitions that have a message with this id. */
  holders(id: string): Promise<number[]>;
}

type Command = fc.AsyncCommand<Model, Real>;

const process = fc.nat({ max: PROCESSES - 1 });
const id = fc.nat({ max: 9 }).map((number) => `m${number}`);
const partitions = fc.constantFrom(1, 2, 3, 4, 8, 16);

const routerOf = (partitions: NativePartitions) => new PartitionRouter(partitions, stickyIds());

function command<Args>(
  name: string,
  args: fc.Arbitrary<Args>,
  run: (model: Model, real: Real, args: Args) => Promise<void>,
): fc.Arbitrary<Command> {
  return args.map((chosen) => ({
    check: () => true,
    run: async (model, real) => {
      await run(model, real, chosen);
      const known = real.processes[0]!;
      expect((await new WholeQueue(routerOf(known)).status()).counts.delayed).toBe(model.size);
      for (const each of model.keys()) {
        const [holder, ...others] = await real.holders(each);
        expect([others, placesOf(each, known.partitioning).includes(holder!)]).toEqual([[], true]);
      }
    },
    toString: () => `${name} ${JSON.stringify(chosen)}`,
  }));
}

const at = <Answer>(real: Real, process: number, id: string, ask: (store: MessageStore) => Promise<Answer>) =>
  routerOf(real.processes[process]!).lookUp(id, ask);

const offer = command(
  'offer',
  fc.record({
    process,
    ids: fc.array(id, { minLength: 1, maxLength: 6 }),
    onDuplicate: fc.constantFrom<OnDuplicate>('keep', 'reject', 'replace', 'follow'),
    debounces: fc.boolean(),
  }),
  async (model, { processes }, { process, ids, onDuplicate, debounces }) => {
    const maxWait = onDuplicate === 'replace' && debounces ? { maxWait: HOUR } : {};
    const offers = ids.map((id, i) => ({
      id,
      due: { after: HOUR },
      onDuplicate,
      body: `J${model.size}${i}`,
      ...maxWait,
    }));
    const inUse = { keep: 'kept', reject: 'rejected', replace: 'replaced', follow: 'kept' }[onDuplicate];
    const expected = offers.map(({ id, body }) => {
      const outcome = model.has(id) ? inUse : 'created';
      if (outcome === 'created' || outcome === 'replaced') model.set(id, body);
      return { outcome };
    });
    expect(await placeOffers(processes[process]!, offers)).toMatchObject(expected);
  },
);

const offerNew = command('offer new', process, async (model, { processes }, process) => {
  const offers = [
    {
      id: `new${model.size}-${Math.random()}`,
      due: { after: HOUR },
      onDuplicate: 'keep' as const,
      body: 'J',
      isNew: true,
    },
  ];
  expect(await placeOffers(processes[process]!, offers)).toMatchObject([{ outcome: 'created' }]);
  model.set(offers[0]!.id, 'J');
});

const cancel = command('cancel', fc.record({ process, id }), async (model, real, { process, id }) => {
  expect(await at(real, process, id, (store) => store.cancel(id))).toBe(model.delete(id));
});

const reschedule = command('reschedule', fc.record({ process, id }), async (model, real, { process, id }) => {
  expect(await at(real, process, id, (store) => store.reschedule(id, { after: HOUR }))).toBe(model.has(id));
});

const change = command('change', fc.record({ process, id }), async (model, real, { process, id }) => {
  const [from, to] = [Buffer.from(model.get(id) ?? 'J'), `J"changed ${model.size}"`];
  const outcome = await routerOf(real.processes[process]!).lookUp(
    id,
    (store) => store.change!(id, { due: { after: HOUR }, from, to }),
    (answer) => answer !== 'absent',
  );
  expect(outcome).toBe(model.has(id) ? 'changed' : 'absent');
  if (model.has(id)) model.set(id, to);
});

const find = command('find', fc.record({ process, id }), async (model, real, { process, id }) => {
  expect((await at(real, process, id, (store) => store.find(id)))?.body.toString()).toBe(model.get(id));
});

const clear = command('clear', process, async (model, { processes }, process) => {
  expect(await new WholeQueue(routerOf(processes[process]!)).clear()).toBe(model.size);
  model.clear();
});

const start = command('start', fc.record({ process, partitions }), async (model, real, { process, partitions }) => {
  await real.start(process, partitions);
  const { count } = real.processes[process]!.partitioning;
  if (model.size === 0) expect(real.processes[process]!.partitioning).toMatchObject({ count: partitions, formers: [] });
  else expect(count).toBeGreaterThanOrEqual(partitions);
});

const changeAndDie = command('change and die', partitions, (_model, real, count) => real.changeAndDie(count));

describe('a queue with a changing number of partitions', () => {
  const scene = new Scene();
  const { runs, seed, path, replay } = modelSettings();
  let connections: RedisConnections;

  beforeAll(() => {
    const settings = { connection: scene.url, clock: systemClock, events: new LoggedEvents() };
    connections = new RedisConnections({ ...settings, commandTimeout: 5000, heartbeat: 5000 });
  });
  afterAll(() => connections.close());

  function openProcess(queue: string, configured: number): NativePartitions {
    const limitsOf = (count: number) => limitsOfPartition(resolveQueueOptions(), count);
    const { prefix } = scene;
    return new NativePartitions(connections, { prefix, queue, partitions: configured, limitsOf });
  }

  function open(): Real {
    const queue = scene.newQueue();
    const processes = Array.from({ length: PROCESSES }, () => openProcess(queue, 1));
    return {
      queue,
      processes,
      start: (process, partitions) => {
        processes[process] = openProcess(queue, partitions);
        return processes[process].agree();
      },
      changeAndDie: async (count) => {
        const observer = openProcess(queue, 1);
        await observer.refresh();
        if (observer.partitioning.count === count) return;
        await scene.redis.set(
          nativeKeys(scene.prefix, queue).partitions,
          formatPartitioning(withCount(observer.partitioning, count)),
        );
      },
      holders: async (id) => {
        const width = widthOf({ epoch: 0, count: 16, formers: [] });
        const all = Array.from({ length: width }, (_, partition) => partition);
        const held = await Promise.all(
          all.map((partition) => scene.redis.hexists(nativeKeys(scene.prefix, queue, partition).messages, id)),
        );
        return all.filter((partition) => held[partition] === 1);
      },
    };
  }

  it(
    `keeps each message in one possible partition and agrees with a map after each command of ${runs} random runs (MODEL_SEED=${seed})`,
    async () => {
      const all = fc.commands(
        [offer, offer, offerNew, cancel, cancel, reschedule, change, find, clear, start, start, changeAndDie],
        {
          maxCommands: 60,
          size: 'max',
          replayPath: replay,
        },
      );
      const agreement = fc.asyncProperty(all, (steps) =>
        fc.asyncModelRun(() => ({ model: new Map<string, string>(), real: open() }), steps),
      );
      await fc.assert(agreement, { numRuns: runs, seed, path });
      expect(runs).toBeGreaterThan(0);
    },
    60_000 + runs * 3000,
  );
});
