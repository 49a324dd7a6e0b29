import type { Events } from '../../events/events.js';
import type { Clock } from '../../timing/clock.js';
import { sleep } from '../../timing/pauses.js';
import { isErrorReply, notConnected, unknownCommand, withoutSecrets } from '../redis-errors.js';
import type { RedisFunction, RedisLibrary, Script } from './redis-library.js';
import type { ScriptArgument, ScriptReply } from './script-call.js';

export interface SendOptions {
  /** When the command is sent, on the monotonic clock. */
  readonly sentAt: number;
  /** When to stop waiting for the answer, on the monotonic clock. */
  readonly deadline: number;
  /** True to send `ASKING` first, because the key is moving to this server. */
  readonly asking: boolean;
}

export type Send = (command: string, words: ScriptArgument[], options: SendOptions) => Promise<ScriptReply>;

/** How functions are called: as functions of a library, or as scripts. */
export type Scripting = 'functions' | 'scripts';

interface Settings {
  readonly clock: Clock;
  readonly events: Pick<Events, 'noteOnce'>;
  /** Undefined: functions where they are available. */
  readonly scripting?: Scripting | undefined;
}

/**
 * Maximum random wait, in ms, before a process that found a library missing looks again and loads it. Processes that start together all
 * find it missing at once. The square root makes short waits rare, so only one or two of them load the library.
 */
const MAX_LOAD_PAUSE = 100;

/** The maximum share of its remaining time that a call waits before it loads the library. The rest is for looking and loading. */
const MAX_LOAD_PAUSE_SHARE = 0.25;

/** Pause before another attempt to load a library that the server has refused for a temporary reason, ms. */
const RELOAD_PAUSE = 5000;

/** The first words of errors that temporarily keep a server from loading a library. */
const TRANSIENT = /^(OOM|NOREPLICAS|MISCONF|READONLY|LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)\b/;

/**
 * Calls functions on one server. If a call finds its library missing, it fails, and the next call loads the library. A function that is not
 * available runs as a script, sent whole the first time and by its digest afterwards. On each connection, one call shows whether the server
 * has the library, or still has a script. Other calls wait for it, because they would all be refused together.
 */
export class ServerFunctions {
  /** Scripts and libraries that the server is known to have. Functions of such a library can be called without {@link call}. */
  readonly loaded = new Set<RedisLibrary | Script>();
  /** The scripts that the server had when a connection was lost, and may still have. */
  readonly #loadedBefore = new Set<RedisLibrary | Script>();
  readonly #missing = new Set<RedisLibrary>();
  /** Calls in progress that will show whether the server has a library or script. */
  readonly #shows = new Map<RedisLibrary | Script, Promise<unknown>>();
  /** When to try again to load a library, on the monotonic clock. Until then, its functions are called as scripts. */
  readonly #loadAgainAt = new Map<RedisLibrary, number>();
  #areUnavailable = false;
  /** Why the latest library could not be loaded, or its functions could not be called. */
  #refusal = '';

  constructor(
    private readonly send: Send,
    private readonly settings: Settings,
  ) {}

  /** Returns why the functions of a library are currently called as scripts; undefined if they are called as functions. */
  whyScripts(library: RedisLibrary): string | undefined {
    if (!this.#isScript(library)) return undefined;
    return this.settings.scripting === 'scripts' ? "`scripting` is 'scripts'" : this.#refusal;
  }

  /** True while a call probes what the server has, including the pause before it loads a library. */
  get isProbing(): boolean {
    return this.#shows.size > 0;
  }

  /** Called when the connection is lost, because the next one may lead to another server. */
  onConnectionLost(): void {
    for (const each of this.loaded) this.#loadedBefore.add(each);
    for (const known of [this.loaded, this.#missing, this.#shows, this.#loadAgainAt]) known.clear();
    this.#areUnavailable = false;
  }

  /** Resolves when it is known whether the server has what a call needs. Undefined if the call need not wait. */
  showing({ library, scripts }: RedisFunction, further: number): Promise<unknown> | undefined {
    return this.#shows.get(this.#isScript(library) ? scripts[further]! : library);
  }

  /**
   * @param further - number of extra sets of keys and arguments in `words`
   * @throws the server's error; if {@link isGone} is true for it, the function did not run, and the next call is made differently
   */
  call(called: RedisFunction, further: number, words: ScriptArgument[], options: SendOptions): Promise<ScriptReply> {
    const { library } = called;
    if (this.#isScript(library)) return this.#callScript(called.scripts[further]!, words, options);
    const isMissing = this.#missing.delete(library);
    return this.#show(library, isMissing ? this.#load(called, words, options) : this.send('FCALL', words, options));
  }

  /** True if an error says that a function is not, or no longer, available. */
  isGone(library: RedisLibrary, error: unknown): boolean {
    const isGone = isMissing(error);
    if (isGone && this.loaded.delete(library)) this.#missing.add(library);
    return isGone || this.#isRefused(error);
  }

  #isScript(library: RedisLibrary): boolean {
    const again = this.#loadAgainAt.get(library);
    const areScripts = this.settings.scripting === 'scripts' || this.#areUnavailable;
    return areScripts || (again !== undefined && this.settings.clock.monotonic() < again);
  }

  /** Loads a function's library, unless another process loads it first, and calls the function. */
  async #load(called: RedisFunction, words: ScriptArgument[], options: SendOptions): Promise<ScriptReply> {
    const { clock, scripting } = this.settings;
    const { library } = called;
    const longest = Math.min(MAX_LOAD_PAUSE, MAX_LOAD_PAUSE_SHARE * (options.deadline - clock.monotonic()));
    await sleep(clock, Math.sqrt(Math.random()) * longest);
    const later = { ...options, sentAt: clock.monotonic() };
    try {
      return await this.send('FCALL', words, later);
    } catch (missing) {
      if (!isMissing(missing)) throw missing;
      try {
        await this.send('FUNCTION', ['LOAD', library.source], later);
      } catch (error) {
        // The function itself has not been called.
        if (!isErrorReply(error)) throw notConnected(called.name, 0, error);
        if (!error.message.includes('already exists')) {
          if (scripting === 'functions') throw error;
          if (!TRANSIENT.test(error.message)) this.#giveUp(error);
          else {
            this.#refusal = error.message;
            this.#loadAgainAt.set(library, clock.monotonic() + RELOAD_PAUSE);
          }
          throw missing;
        }
      }
    }
    return this.send('FCALL', words, later);
  }

  /** True if an error says that this user cannot call functions, and scripts are allowed. This connection then uses scripts only. */
  #isRefused(error: unknown): boolean {
    if (this.settings.scripting === 'functions' || !isErrorReply(error)) return false;
    const isRefused =
      /^(FCALL|FUNCTION)$/.test(unknownCommand(error) ?? '') || /^NOPERM .*'(fcall|function)\b/i.test(error.message);
    if (isRefused) this.#giveUp(error);
    return isRefused;
  }

  #giveUp(error: Error): void {
    const { message: reason } = withoutSecrets(error) as Error;
    this.#areUnavailable = true;
    this.#refusal = reason;
    this.loaded.clear();
    this.settings.events.noteOnce('functions-unavailable', { reason });
  }

  async #callScript(script: Script, [, ...words]: ScriptArgument[], options: SendOptions): Promise<ScriptReply> {
    const { source, sha1 } = script;
    try {
      if (this.loaded.has(script)) return await this.send('EVALSHA', [sha1, ...words], options);
      if (this.#loadedBefore.has(script))
        return await this.#show(script, this.send('EVALSHA', [sha1, ...words], options));
    } catch (error) {
      // The server has lost the script (SCRIPT FLUSH, a restart), or it rejected the earlier EVAL before reading the script.
      if (!(isErrorReply(error) && error.message.startsWith('NOSCRIPT'))) throw error;
    }
    this.loaded.add(script);
    return this.send('EVAL', [source, ...words], options);
  }

  async #show(what: RedisLibrary | Script, reply: Promise<ScriptReply>): Promise<ScriptReply> {
    const showing = reply.catch(() => undefined);
    this.#shows.set(what, showing);
    try {
      const answer = await reply;
      this.loaded.add(what);
      return answer;
    } catch (error) {
      if (isMissing(error)) this.#missing.add(what as RedisLibrary);
      else if (isErrorReply(error)) this.loaded.add(what);
      throw error;
    } finally {
      if (this.#shows.get(what) === showing) this.#shows.delete(what);
    }
  }
}

const isMissing = (error: unknown): boolean => isErrorReply(error) && /^ERR Function not found/i.test(error.message);
