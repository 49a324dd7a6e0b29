import type { Redis } from 'ioredis';
import { randomName } from '../../support/random-name.js';
import { until } from '../../support/until.js';

/** A command that Redis ran for a queue. */
export interface TracedCommand {
  /** The script that ran it, or undefined if it was sent on its own. */
  readonly script: string | undefined;
  /** In capital letters. */
  readonly name: string;
  /** The queue's key or channel that it names, if any. */
  readonly part: string | undefined;
}

/** Commands that call scripts or maintain connections. */
const NOT_TRACED = [
  'ECHO',
  'EVAL',
  'EVALSHA',
  'FCALL',
  'FUNCTION',
  'INFO',
  'CLIENT',
  'HELLO',
  'PING',
  'SCRIPT',
  'UNSUBSCRIBE',
];

/** Records what Redis runs, as `MONITOR` reports it. */
export class CommandTrace {
  readonly commands: TracedCommand[] = [];
  /** The places in scripts that have called Redis. */
  readonly places = new Set<string>();
  #script: string | undefined;

  private constructor(
    private readonly monitor: Redis,
    private readonly redis: Redis,
    private readonly parts: ReadonlyMap<string, string>,
  ) {}

  /**
   * @param redis - a client whose own commands are not traced
   * @param keys - the queue's keys and channels, by their parts
   */
  static async start(redis: Redis, keys: object): Promise<CommandTrace> {
    const parts = new Map(Object.entries(keys).map(([part, key]) => [key as string, part]));
    const own = /addr=(\S+)/.exec(String(await redis.client('INFO')))![1];
    const monitor = await redis.monitor();
    const trace = new CommandTrace(monitor, redis, parts);
    monitor.on('monitor', (_time, words: string[], source: string) => {
      if (source !== own || words[0] === 'ECHO') trace.#note(words, source === 'lua');
    });
    return trace;
  }

  /** Waits until everything is recorded. */
  async end(): Promise<void> {
    const last = randomName('end');
    await this.redis.call('ECHO', last);
    await until(() => this.places.has(last));
    this.monitor.disconnect();
  }

  /** Some keys are known only by the beginning of their names. */
  #partOf(word: string): string | undefined {
    return this.parts.get(word) ?? [...this.parts].find(([key]) => key.endsWith(':') && word.startsWith(key))?.[1];
  }

  #note([name, ...words]: string[], byScript: boolean): void {
    const command = name!.toUpperCase();
    if (command === 'ECHO') {
      const [script, place] = words[0]!.split(' ');
      this.#script = script;
      this.places.add(place ?? script!);
    }
    if (NOT_TRACED.includes(command)) return;
    const script = byScript ? this.#script : undefined;
    const parts = [...new Set(words.flatMap((word) => this.#partOf(word) ?? []))];
    for (const part of parts.length > 0 ? parts : [undefined]) this.commands.push({ script, name: command, part });
  }
}
