import { type NativeKeys, nativeKeys, nativeKeysUnder } from './native-keys.js';

/** The additional keys of messages with groups; `lua/modules/groups.lua` describes their contents. */
const ENDINGS = {
  /** HASH group → how many of its permits are taken. */
  permits: 'lanes',
  /** With the name of a group appended: LIST of the ids in its backlog. */
  line: 'line:',
  /** HASH id → '1', of delayed messages that keep their permits. */
  held: 'held',
  /** STRING, the time at which the consumer that waits for the queue's rate claims again; it expires. */
  awaited: 'awaited',
};

export type GroupKeys = NativeKeys & { readonly [Part in keyof typeof ENDINGS]: string };

/** Makes the keys, which processes that know of no groups leave alone. The pause and the rate belong to the whole queue. */
export function groupKeys(prefix: string, queue: string): GroupKeys {
  const ofQueue = nativeKeys(prefix, queue);
  const root = `${prefix}:{${queue}}:lane:`;
  const own = Object.fromEntries(Object.entries(ENDINGS).map(([part, ending]) => [part, root + ending]));
  return { ...nativeKeysUnder(root), paused: ofQueue.paused, rate: ofQueue.rate, ...own } as GroupKeys;
}
