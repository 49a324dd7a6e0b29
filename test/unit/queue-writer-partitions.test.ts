import { describe, expect, it } from '@jest/globals';
import { DelayQueueError } from '../../lib/message/delay-queue-errors.js';
import { MessageIdGenerator } from '../../lib/message/message-id.js';
import { partitionOf } from '../../lib/message/partition-of.js';
import { resolveQueueOptions } from '../../lib/options/resolve-options.js';
import { QueueWriter } from '../../lib/producer/queue-writer.js';
import { MemoryMessageStore } from '../../lib/store/memory/memory-store.js';
import { routerOf } from '../../lib/runtime/open-queue.js';
import { Queue } from '../../lib/runtime/queues.js';
import type { Offer } from '../../lib/store/producer-store.js';
import { ManualClock } from '../support/manual-clock.js';

const PARTITIONS = 4;
const options = resolveQueueOptions({ partitions: PARTITIONS });

function newWriter() {
  const clock = new ManualClock();
  const partitions = Array.from({ length: PARTITIONS }, () => new MemoryMessageStore({ limits: options, clock }));
  const queue = new Queue('orders', options, routerOf({ partitions, groups: undefined }));
  const parts = { registrar: { register: () => undefined }, advice: { onKept: () => undefined } };
  const writer = new QueueWriter(queue, { ids: new MessageIdGenerator(), ...parts, callsUnderWay: 0 });
  const offer = (id: string) =>
    writer.encode({ payload: 'payload', due: { after: 1000 }, options: { id, onDuplicate: 'reject' } });
  const calls: string[][][] = partitions.map((partition) => {
    const own: string[][] = [];
    const take = partition.offer.bind(partition);
    partition.offer = (offers: readonly Offer[]) => {
      own.push(offers.map(({ id }) => id));
      return take(offers);
    };
    return own;
  });
  const fail = (partition: number, error: Error) => (partitions[partition]!.offer = () => Promise.reject(error));
  const failLists = async (offers: readonly Offer[]) => {
    const error = await writer.writeMany(offers).catch((thrown: unknown) => thrown as DelayQueueError);
    return error as DelayQueueError & { cause: AggregateError };
  };
  return { writer, queue, offer, calls, fail, failLists, partitions };
}

const ids = Array.from({ length: 24 }, (_, i) => `m${i}`);
const idsIn = (...partitions: number[]) => ids.filter((id) => partitions.includes(partitionOf(id, PARTITIONS)));
const unknown = () => new DelayQueueError('OUTCOME_UNKNOWN', 'The connection broke.');
const notSent = () => new DelayQueueError('NOT_CONNECTED', 'Redis is not reachable.');

describe('QueueWriter for a queue with partitions', () => {
  it('sends the offers of one turn in one call per partition, in order', async () => {
    const { writer, offer, calls, queue } = newWriter();
    await Promise.all(ids.map((id) => writer.write(offer(id))));
    expect(calls).toEqual([0, 1, 2, 3].map((partition) => [idsIn(partition)]));
    expect(queue.pendingOffers).toBe(0);
  });

  it('returns receipts in the order of the list, whatever the partitions', async () => {
    const { writer, offer, calls } = newWriter();
    const results = await writer.writeMany(ids.map(offer));
    expect(results.map(({ id }) => id)).toEqual(ids);
    expect(calls).toEqual([0, 1, 2, 3].map((partition) => [idsIn(partition)]));
  });

  it('sends every offer of a turn once, whether made alone or in a list', async () => {
    const { writer, offer, calls } = newWriter();
    const inOne = idsIn(2);
    const [first, ...others] = inOne.map(offer);
    await Promise.all([writer.write(first!), writer.writeMany(others)]);
    expect(calls[2]!.flat().sort()).toEqual([...inOne].sort());
  });

  it('names the offers that may not have been written, and keeps the others', async () => {
    const { fail, failLists, offer, partitions } = newWriter();
    fail(1, unknown());
    fail(3, notSent());
    const error = await failLists(ids.map(offer));
    const lost = idsIn(1, 3);
    expect(error).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      message:
        `Only ${24 - lost.length} of 24 offers are known to be written, then: The connection broke. (message id '${idsIn(1)[0]}') ` +
        `Not known to be written: ${lost
          .slice(0, 10)
          .map((id) => `'${id}'`)
          .join(', ')} and ${lost.length - 10} more. ` +
        'Offering all of them again is safe if you gave them ids.',
    });
    expect(error.cause.errors.map(({ messageId, code }: DelayQueueError) => [messageId, code])).toEqual(
      lost.map((id) => [id, idsIn(1).includes(id) ? 'OUTCOME_UNKNOWN' : 'NOT_CONNECTED']),
    );
    const kept = await Promise.all(partitions.map(async (partition) => (await partition.status()).counts.delayed));
    expect(kept).toEqual([idsIn(0).length, 0, idsIn(2).length, 0]);
  });

  it('says that nothing was written if this is certain for every offer', async () => {
    const { fail, failLists, offer } = newWriter();
    for (const partition of [0, 1, 2, 3]) fail(partition, notSent());
    expect(await failLists(ids.map(offer))).toMatchObject({ code: 'NOT_CONNECTED' });
  });

  it('reports rejected offers along with failed ones', async () => {
    const { writer, fail, failLists, offer } = newWriter();
    const [duplicate] = idsIn(0);
    await writer.write(offer(duplicate!));
    fail(1, unknown());
    const { cause } = await failLists(ids.map(offer));
    expect(cause.errors).toContainEqual(expect.objectContaining({ code: 'DUPLICATE_MESSAGE', messageId: duplicate }));
    expect(cause.errors).toHaveLength(idsIn(1).length + 1);
  });
});
