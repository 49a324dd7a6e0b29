import fc from 'fast-check';
import type { GroupModel } from '../group-model.js';
import type { QueueModel } from '../queue-model.js';
import { command, often, type WeightedCommands } from './command.js';

/** Groups have settings in runs without other limits, whose effects on claims depend on how many messages a claim looks at. */
const isFree = ({ limits }: QueueModel) => !limits.rate && !limits.globalConcurrency;

/** A concurrency that is higher than those of the rules, or is no limit for a few messages. */
const HIGHER = 1500;

/** The commands for the settings of one group. */
export function groupCommands(): WeightedCommands[] {
  const group = fc.constantFrom('one', 'two', 'three');

  const pause = command({
    name: 'pause the group',
    args: group,
    when: isFree,
    run: async (model, real, name) => {
      await real.views[0].setGroup!(name, { paused: true });
      (model as GroupModel).pauseGroup(name);
    },
  });

  const resume = command({
    name: 'resume the group',
    args: group,
    when: isFree,
    run: async (model, real, name) => {
      await real.views[1].setGroup!(name, { paused: false });
      (model as GroupModel).resumeGroup(name);
    },
  });

  const raise = command({
    name: 'raise the concurrency of the group',
    args: group,
    when: (model) => isFree(model) && model.limits.groups!.concurrency !== null,
    run: async (model, real, name) => {
      await real.views[1].setGroup!(name, { concurrency: HIGHER });
      (model as GroupModel).raiseConcurrency(name, HIGHER);
    },
  });

  return [often(4, pause), often(8, resume), often(1, raise)];
}
