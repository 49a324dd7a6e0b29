/** Both stores, each with one partition and with several. */
export const STORES = [
  { store: 'redis', partitions: 1 },
  { store: 'redis', partitions: 3 },
  { store: 'memory', partitions: 1 },
  { store: 'memory', partitions: 3 },
] as const;
