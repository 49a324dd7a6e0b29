import type { Adapter } from './adapters/adapter.js';

/** A system that can be measured. */
export interface System {
  readonly name: string;
  readonly title: string;
  /** Loads it, in the process that runs it: none pays for the code of another. */
  readonly load: (libraryFolder: string) => Promise<Adapter>;
  /** Whether a queue of it can have several consumers. */
  readonly manyConsumers: boolean;
}

export const OURS = 'ours';
export const FLOOR = 'floor';

const loadOurs = async (folder: string) => (await import('./adapters/ours.js')).createAdapter(folder);
const loadRedisson = async (folder: string) =>
  (await import('./adapters/ours.js')).createAdapter(folder, { layout: 'redisson' });

/** In the order of the columns. */
export const SYSTEMS: readonly System[] = [
  { name: OURS, title: 'this package', load: loadOurs, manyConsumers: true },
  {
    name: FLOOR,
    title: 'floor',
    load: async () => (await import('./adapters/floor/floor.js')).adapter,
    manyConsumers: false,
  },
  {
    name: 'bullmq',
    title: 'BullMQ',
    load: async () => (await import('./adapters/bullmq.js')).adapter,
    manyConsumers: true,
  },
  {
    name: 'bee-queue',
    title: 'bee-queue',
    load: async () => (await import('./adapters/bee-queue.js')).adapter,
    manyConsumers: true,
  },
  // The same package, sharing its queue with Java.
  { name: 'redisson-layout', title: 'layout redisson', load: loadRedisson, manyConsumers: true },
  // The same package from another folder: a build of an earlier commit, given with --against.
  { name: 'earlier', title: 'earlier build', load: loadOurs, manyConsumers: true },
];

export function systemOf(name: string): System {
  const system = SYSTEMS.find((candidate) => candidate.name === name);
  if (!system) throw new Error(`There is no system '${name}', only ${SYSTEMS.map((known) => known.name).join(', ')}`);
  return system;
}
