/** The Redis keys of the directory of queues. No queue's name contains `@`, so no queue has this hash tag. */
export interface DirectoryKeys {
  /** ZSET name → 0, of every queue that was ever registered or handled: a sorted set so that it can be listed by name. */
  readonly names: string;
  /** HASH name → stamp of its latest registration, of the queues that may hold messages. */
  readonly registered: string;
  /** ZSET name → 0, of every queue and every family that some process has handled. */
  readonly handled: string;
}

export function directoryKeys(prefix: string): DirectoryKeys {
  const key = (part: string) => `${prefix}:{@queues}:${part}`;
  return { names: key('names'), registered: key('registered'), handled: key('handled') };
}
