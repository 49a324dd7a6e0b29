import { describe, expect, it } from '@jest/globals';
import { ConcurrentCalls } from '../../lib/batches/concurrent-calls.js';
import { GroupBatches, type GroupBatchesOptions } from '../../lib/batches/batches.js';
import { Outcomes } from '../../lib/consumer/outcomes.js';
import { RetryPolicy } from '../../lib/consumer/retry-policy.js';
import { nativeCodec } from '../../lib/message/codec/native-codec.js';
import type { DelayedMessage } from '../../lib/message/message.js';
import { resolveQueueOptions } from '../../lib/options/resolve-options.js';
import { setImmediate } from '../../lib/timing/event-loop.js';
import { newDelivery } from '../support/deliveries.js';
import { LoggedEvents } from '../support/logged-events.js';
import { ManualClock } from '../support/manual-clock.js';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** The group of a message is the first letter of its id; none for a digit. */
const groupOf = (id: string) => (/^\d/.test(id) ? undefined : id[0]);

function newBatches(options: Partial<GroupBatchesOptions> = {}) {
  const [clock, events, queueOptions] = [new ManualClock(), new LoggedEvents(), resolveQueueOptions()];
  const calls: string[] = [];
  const batches = new GroupBatches({
    call: (_payloads, messages) => {
      calls.push((messages as DelayedMessage[]).map(({ id }) => id).join(' '));
    },
    check: undefined,
    retryPolicy: new RetryPolicy(queueOptions, events),
    outcomes: new Outcomes({ ...queueOptions, codec: nativeCodec, clock, events }),
    clock,
    timeout: null,
    size: 3,
    wait: 1000,
    groupConcurrency: null,
    calls: new ConcurrentCalls(10),
    ...options,
  });
  const settled: Record<string, string> = {};
  const run = (...ids: string[]) => {
    for (const id of ids) {
      const delivery = newDelivery(id);
      delivery.open({ type: '', payload: id, headers: {}, group: groupOf(id) });
      void batches.run(delivery).then(({ kind }) => (settled[id] = kind));
    }
  };
  return { batches, run, calls, settled, clock };
}

describe('a batch per group', () => {
  it('contains messages of one group, or only messages without a group', () => {
    const { run, calls } = newBatches();
    run('a1', 'b1', '1', 'a2', '2', 'b2', 'a3', '3', 'a4');
    expect(calls).toEqual(['a1 a2 a3', '1 2 3']);
  });

  it('waits no longer than its own first message may wait', async () => {
    const { run, calls, clock } = newBatches();
    run('a1');
    await clock.advance(600);
    run('b1', 'a2');
    await clock.advance(400);
    expect(calls).toEqual(['a1 a2']);
    await clock.advance(600);
    expect(calls).toEqual(['a1 a2', 'b1']);
  });

  it('counts as full once it holds as many messages as its group may have at once', () => {
    const { run, calls } = newBatches({ groupConcurrency: 2 });
    run('a1', '1', 'a2', '2');
    expect(calls).toEqual(['a1 a2']);
    run('3');
    expect(calls).toEqual(['a1 a2', '1 2 3']);
  });

  it("contains its group's messages from one event-loop turn if there is no wait", async () => {
    const { run, calls } = newBatches({ wait: 0 });
    run('a1', 'b1', 'a2');
    await turn();
    run('a3');
    await turn();
    expect(calls).toEqual(['a1 a2', 'b1', 'a3']);
  });

  it('includes messages of its group that arrive while it waits for a call', async () => {
    const ends: (() => void)[] = [];
    const calls: string[] = [];
    const call = (_payloads: unknown, messages: unknown) => {
      calls.push((messages as DelayedMessage[]).map(({ id }) => id).join(' '));
      return new Promise<void>((resolve) => ends.push(resolve));
    };
    const { run } = newBatches({ wait: 0, calls: new ConcurrentCalls(1), call });
    run('a1');
    await turn();
    run('b1');
    await turn();
    run('b2', 'c1');
    ends.shift()!();
    await turn();
    ends.shift()!();
    await turn();
    expect(calls).toEqual(['a1', 'b1 b2', 'c1']);
  });

  it('is forgotten once it is full', () => {
    const { batches, run } = newBatches();
    run('a1', 'a2', 'b1', '1');
    expect(batches.waitingGroups).toBe(3);
    run('a3', 'b2', 'b3', '2', '3');
    expect(batches.waitingGroups).toBe(0);
  });

  it('is released when the process stops', async () => {
    const { batches, run, calls, settled } = newBatches();
    run('a1', 'b1');
    batches.stop();
    run('a2', 'c1');
    await turn();
    expect(settled).toEqual({ a1: 'release', b1: 'release', a2: 'release', c1: 'release' });
    expect(calls).toEqual([]);
  });
});
