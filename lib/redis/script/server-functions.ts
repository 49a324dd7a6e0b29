import type { Clock } from '../../timing/clock.js';
import { isErrorReply, notConnected, unknownCommand } from '../redis-errors.js';
import type { RedisFunction, RedisLibrary, Script } from './redis-library.js';
import type { ScriptArgument } from './script-call.js';
import type { ScriptReply } from './script-reply.js';

interface CallOptions {
  /** When the caller gives up, on the monotonic clock. */
  readonly deadline: number;
}

/** Sends a command to the server. */
type Send<Options extends CallOptions> = (
  command: string,
  words: ScriptArgument[],
  options: Options,
) => Promise<ScriptReply>;

/** How functions are called: as functions of a library, or as scripts. */
export type Scripting = 'functions' | 'scripts';

export interface ServerFunctionsOptions {
  readonly clock: Clock;
  /** Undefined: as functions where they are to be had. */
  readonly scripting?: Scripting | undefined;
  /** Called with the reason when the server turns out not to have functions for this user. */
  readonly onUnavailable?: ((reason: string) => void) | undefined;
}

/**
 * Processes that start at once find the library missing at once. Each waits so long at most, ms, at random, and then looks again. Few waits
 * are short, because of the root, so one or two processes load it.
 */
const MAX_LOAD_PAUSE = 100;

/** Which share of the time that a call has left it may wait before it loads the library: looking and loading take the rest. */
const MAX_LOAD_PAUSE_SHARE = 0.25;

/** How soon to try again to load a library that the server could not take just now, ms. */
const RELOAD_PAUSE = 5000;

/** The first words of errors that keep a server from loading a library for a while. */
const TRANSIENT = /^(OOM|NOREPLICAS|MISCONF|READONLY|LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)\b/;

/**
 * Calls functions on one server. A library that the server does not have is loaded by the call that misses it. What can be no function is
 * a script: it goes whole the first time, and then by its digest. On each connection, one call shows whether the server has the library, or
 * still has a script, and the others wait for that: otherwise all would be refused together.
 */
export class ServerFunctions<Options extends CallOptions> {
  /** True for what the server has, by the name of the library or the digest of the script. A promise: the call that shows it. */
  #known = new Map<string, boolean | Promise<unknown>>();
  /** The libraries that the server is known to have: their functions need no {@link call}. */
  readonly loaded = new Set<RedisLibrary>();
  readonly #knownBefore = new Set<string>();
  /** When to try again to load a library, by its name, on the monotonic clock. Until then its functions are scripts. */
  #loadAgainAt = new Map<string, number>();
  #areUnavailable = false;

  constructor(
    private readonly send: Send<Options>,
    private readonly options: ServerFunctionsOptions,
  ) {}

  /** True if functions are called as scripts. */
  get areScripts(): boolean {
    return this.options.scripting === 'scripts' || this.#areUnavailable;
  }

  /** Called when the connection is lost: the next one may lead to another server. */
  onConnectionLost(): void {
    for (const name of this.#known.keys()) this.#knownBefore.add(name);
    this.#known = new Map();
    this.loaded.clear();
    this.#loadAgainAt = new Map();
    this.#areUnavailable = false;
  }

  /** Resolves when it is known whether the server has what a call needs; undefined: the call need not wait for that. */
  showing({ library, scripts }: RedisFunction, further: number): Promise<unknown> | undefined {
    const known = this.#known.get(this.#isScript(library) ? scripts[further]!.sha1 : library.name);
    return typeof known === 'boolean' ? undefined : known;
  }

  /** @param words - from `wordsOf` */
  async call(called: RedisFunction, words: ScriptArgument[], options: Options): Promise<ScriptReply> {
    const { library } = called;
    if (this.#isScript(library)) return this.#callScript(called, words, options);
    try {
      const known = this.#known.get(library.name);
      if (known !== false) {
        const reply = this.send('FCALL', words, options);
        const answer = await (known ? reply : this.#showing(library.name, reply));
        this.loaded.add(library);
        return answer;
      }
    } catch (error) {
      if (this.#isRefused(error)) return this.#callScript(called, words, options);
      if (!isMissing(error)) throw error;
    }
    const known = this.#known.get(library.name);
    if (known instanceof Promise) await known;
    else {
      const reply = await this.#showing(library.name, this.#load(called, words, options));
      if (reply) return reply;
    }
    return this.call(called, words, options);
  }

  /** True if an error of a function that was {@link loaded} says that it is not to be had any more, so that {@link call} is needed. */
  isGone(library: RedisLibrary, error: unknown): boolean {
    const isGone = isMissing(error) || this.#isRefused(error);
    if (isGone && this.loaded.delete(library)) this.#known.set(library.name, false);
    return isGone;
  }

  #isScript({ name }: RedisLibrary): boolean {
    const again = this.#loadAgainAt.get(name);
    return this.areScripts || (again !== undefined && this.options.clock.monotonic() < again);
  }

  /** Loads the library of a function. @returns the reply of the function if somebody else has loaded it meanwhile */
  async #load(called: RedisFunction, words: ScriptArgument[], options: Options): Promise<ScriptReply | undefined> {
    const { clock, scripting } = this.options;
    const { name, source } = called.library;
    const longest = Math.min(MAX_LOAD_PAUSE, MAX_LOAD_PAUSE_SHARE * (options.deadline - clock.monotonic()));
    await new Promise<void>((resolve) => clock.schedule(resolve, Math.sqrt(Math.random()) * longest));
    try {
      return await this.send('FCALL', words, options);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    try {
      await this.send('FUNCTION', ['LOAD', source], options);
    } catch (error) {
      // The function itself has not been called.
      if (!isErrorReply(error)) throw notConnected(called.name, 0, error);
      const isOthers = error.message.includes('already exists');
      if (isOthers || this.#isRefused(error)) return undefined;
      if (scripting === 'functions') throw error;
      if (TRANSIENT.test(error.message)) this.#loadAgainAt.set(name, clock.monotonic() + RELOAD_PAUSE);
      else this.#giveUp(error);
    }
    return undefined;
  }

  /** Notes that the server has no functions for this user, if an error says so and scripts will do. */
  #isRefused(error: unknown): boolean {
    if (this.options.scripting === 'functions' || !isErrorReply(error)) return false;
    const isRefused =
      /^(FCALL|FUNCTION)$/.test(unknownCommand(error) ?? '') || /^NOPERM .*'(fcall|function)\b/i.test(error.message);
    if (isRefused) this.#giveUp(error);
    return isRefused;
  }

  #giveUp(error: Error): void {
    this.#areUnavailable = true;
    this.loaded.clear();
    this.options.onUnavailable?.(error.message);
  }

  async #callScript(called: RedisFunction, [, ...words]: ScriptArgument[], options: Options): Promise<ScriptReply> {
    const { source, sha1 } = scriptOf(called, words[0]);
    try {
      if (this.#known.has(sha1)) return await this.send('EVALSHA', [sha1, ...words], options);
      if (this.#knownBefore.has(sha1))
        return await this.#showing(sha1, this.send('EVALSHA', [sha1, ...words], options));
    } catch (error) {
      // The server has lost it (SCRIPT FLUSH, a restart), or refused the call before it read the script.
      if (!(isErrorReply(error) && error.message.startsWith('NOSCRIPT'))) throw error;
    }
    this.#known.set(sha1, true);
    return this.send('EVAL', [source, ...words], options);
  }

  /** Makes the call that shows whether the server has a library or a script. */
  async #showing<Reply>(name: string, reply: Promise<Reply>): Promise<Reply> {
    const known = this.#known;
    known.set(
      name,
      reply.catch(() => undefined),
    );
    try {
      const answer = await reply;
      known.set(name, true);
      return answer;
    } catch (error) {
      if (isErrorReply(error)) known.set(name, true);
      else known.delete(name);
      throw error;
    }
  }
}

function scriptOf({ scripts, keys }: RedisFunction, keyCount: ScriptArgument | undefined): Script {
  let count = 0;
  return scripts[keys.findIndex((set) => (count += set.length) === keyCount)]!;
}

const isMissing = (error: unknown): boolean => isErrorReply(error) && /^ERR Function not found/i.test(error.message);
