import { type NativeKeys, nativeKeys, nativeKeysUnder } from './native-keys.js';

/** The keys that messages with groups have besides; `lua/modules/groups.lua` describes what is in them. */
const ENDINGS = {
  /** HASH group → how many of its permits are taken. */
  permits: 'lanes',
  /** With the name of a group appended: LIST of the ids in its backlog. */
  line: 'line:',
  /** HASH id → '1', of delayed messages that keep their permits. */
  held: 'held',
  /** STRING, when who waits for the queue's rate claims again; it expires. */
  awaited: 'awaited',
};

export type GroupKeys = NativeKeys & { readonly [Part in keyof typeof ENDINGS]: string };

/**
 * The Redis keys of the messages of a queue that have groups. Processes that know of no groups leave them alone. Whether the queue is
 * paused, and what claims have taken of its rate, is known of the whole queue.
 */
export function groupKeys(prefix: string, queue: string): GroupKeys {
  const ofQueue = nativeKeys(prefix, queue);
  const root = `${prefix}:{${queue}}:lane:`;
  const own = Object.fromEntries(Object.entries(ENDINGS).map(([part, ending]) => [part, root + ending]));
  return { ...nativeKeysUnder(root), paused: ofQueue.paused, rate: ofQueue.rate, ...own } as GroupKeys;
}
