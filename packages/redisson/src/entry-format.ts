/** How Redisson packs a payload into an entry: `'Bc0Lc0'` since 3.21.1, `'dLc0'` before. */
export type EntryFormat = 'Bc0Lc0' | 'dLc0';
