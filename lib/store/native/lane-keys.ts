import { type NativeKeys, nativeKeys, nativeKeysUnder } from './native-keys.js';

/** The keys that messages with groups have besides; `native/lua/include/lanes.lua` describes what is in them. */
const ENDINGS = {
  /** HASH group → how many of its slots are taken. */
  lanes: 'lanes',
  /** With the name of a group appended: LIST of ids that wait in its line. */
  line: 'line:',
  /** HASH id → '1', of delayed messages that hold their lanes. */
  held: 'held',
  /** STRING, when who waits for the queue's rate claims again; it expires. */
  awaited: 'awaited',
};

export type LaneKeys = NativeKeys & { readonly [Part in keyof typeof ENDINGS]: string };

/**
 * The Redis keys of the messages of a queue that have groups. Processes that know of no groups leave them alone. Whether the queue is
 * paused, and what claims have taken of its rate, is known of the whole queue.
 */
export function laneKeys(prefix: string, queue: string): LaneKeys {
  const ofQueue = nativeKeys(prefix, queue);
  const root = `${prefix}:{${queue}}:lane:`;
  const own = Object.fromEntries(Object.entries(ENDINGS).map(([part, ending]) => [part, root + ending]));
  return { ...nativeKeysUnder(root), paused: ofQueue.paused, rate: ofQueue.rate, ...own } as LaneKeys;
}
