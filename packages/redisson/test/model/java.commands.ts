import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { RedissonQueueModel } from './redisson-model.js';
import type { QueueModel } from '../../../../test/model/queue-model.js';
import { command, often, type WeightedCommands } from '../../../../test/model/commands/command.js';

const FAR = 9e12;

/** The operations of Java on a queue in Redisson's layout. */
export function javaCommands(): WeightedCommands[] {
  const asRedisson = (model: QueueModel) => model as RedissonQueueModel;

  const offer = command({
    name: 'Java offers',
    args: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constant(FAR)),
    run: async (model, { java }, due) => {
      const { body, entry } = asRedisson(model).offerAsJava(due);
      await java!.offer(body, due, entry);
    },
  });

  const transfer = command({
    name: 'Java transfers',
    args: fc.constant(null),
    run: async (model, { java }) => {
      asRedisson(model).transferAsJava(await java!.transfer());
    },
  });

  const take = command({
    name: 'Java takes',
    args: fc.constant(null),
    run: async (model, { java }) => {
      expect(await java!.take()).toBe(asRedisson(model).takeAsJava());
    },
  });

  const remove = command({
    name: 'Java removes',
    args: fc.nat({ max: 9 }),
    when: (model) => asRedisson(model).entries().length > 0,
    run: async (model, { java }, place) => {
      const entries = asRedisson(model).entries();
      const { body } = entries[place % entries.length]!;
      expect([body, await java!.remove(body)]).toEqual([body, asRedisson(model).removeAsJava(body)]);
    },
  });

  return [often(9, offer), often(9, transfer), often(6, take), often(3, remove)];
}
