/** The neighbour that uses none: what it costs is what any other queue does. */
export const NO_FEATURE = 'no feature';

/** What a message does not pay for if only another queue of the application uses it. */
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
] as const;

/** What a neighbour uses. */
export type Feature = (typeof FEATURES)[number] | typeof NO_FEATURE;
