/** The neighbour that uses none: what it costs is what any other queue does. */
export const NO_FEATURE = 'no feature';

/** Features that cost a message nothing if only another queue of the application uses them. */
export const FEATURES = [
  'observers',
  'types',
  'schema',
  'enhancers',
  'partitions',
  'families',
  'rate',
  'batches',
  'headers',
  'retries',
  'repeats',
  'groups',
  'global concurrency',
  'history',
  'kept ids',
] as const;

/** Features of a neighbour. */
export type Feature = (typeof FEATURES)[number] | typeof NO_FEATURE;
