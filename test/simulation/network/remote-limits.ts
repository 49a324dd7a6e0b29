import { LIMITS_CHANGED } from '../../../lib/store/native/script-replies.js';
import { parseLimits, type SetLimits } from '../../../lib/limits/set-limits.js';
import { NativeLimits } from '../../../lib/limits/native-limits.js';
import { ScriptReply } from '../../../lib/redis/script/script-call.js';
import { nativeKeys } from '../../../lib/store/native/native-keys.js';
import type { Link } from './link.js';
import type { SimulatedServer } from './server.js';

/** What becomes known to the oracle. */
export interface OnLimits {
  set(queue: string, limits: SetLimits | undefined): void;
  announced(queue: string): void;
}

const PREFIX = 'simulated';

export interface RemoteLimitsParts {
  readonly server: SimulatedServer;
  readonly instance: string;
  readonly link: Link;
  readonly onLimits: OnLimits;
}

/** The limits that are set while queues run: what a process does with Redis' commands, at the other end of the network. */
export function remoteLimits({ server, instance, link, onLimits }: RemoteLimitsParts): NativeLimits {
  const stored = server.limitsOf(instance);
  const commands: Record<string, (name: string, text: string) => unknown> = {
    HGETALL: () => [...stored].flat().map((text) => Buffer.from(text)),
    HGET: (queue) => [stored.get(queue)].flatMap((text) => (text === undefined ? [] : Buffer.from(text))),
    HSET: (queue, text) => {
      stored.set(queue, text);
      onLimits.set(queue, parseLimits(text));
      return 1;
    },
    HDEL: (queue) => {
      stored.delete(queue);
      onLimits.set(queue, undefined);
      return 1;
    },
    PUBLISH: (channel, text) => {
      const queue = queueOf(channel);
      if (text !== LIMITS_CHANGED || queue === undefined) return 0;
      server.announceLimits(instance, queue);
      onLimits.announced(queue);
      return 1;
    },
  };
  const send = (name: string, key: string, ...rest: readonly string[]) => {
    const [first, second] = name === 'PUBLISH' ? [key, rest[0]] : rest;
    return link.call(name, () => Promise.resolve(new ScriptReply(commands[name]!(first, second!))));
  };
  const { clock } = link.process;
  const publish = async (channel: string, text: string) => void (await send('PUBLISH', channel, text));
  const limits = new NativeLimits({ commands: { send }, publish, clock }, PREFIX);
  limits.start();
  return limits;
}

/** The queue that announces on a channel; undefined: those are the messages with groups. */
function queueOf(channel: string): string | undefined {
  const [before, behind] = nativeKeys(PREFIX, '*').due.split('*') as [string, string];
  const queue = channel.slice(before.length, channel.length - behind.length);
  return nativeKeys(PREFIX, queue).due === channel ? queue : undefined;
}
