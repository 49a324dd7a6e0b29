import { isErrorReply } from '../redis-errors.js';
import type { RedisScript } from './redis-script.js';
import type { ScriptArgument } from './script-call.js';
import type { ScriptReply } from './script-reply.js';

/** Sends a command to the server. */
type Send<Options> = (command: string, words: ScriptArgument[], options: Options) => Promise<ScriptReply>;

/**
 * Calls scripts on one server: whole the first time, because the server may never have had them, and then by their digests. After a
 * reconnection, one call shows whether the server still has a script, and the others wait for that: if it has lost them, all calls would
 * be refused together, and if each connection began with whole scripts, they would fill a narrow network.
 */
export class ServerScripts<Options> {
  /**
   * The scripts that the server has, by digest. One that was sent whole on this connection is there when the server runs what follows it.
   * A promise: the answer to the first call by a digest that an earlier connection knew.
   */
  #known = new Map<string, true | Promise<unknown>>();
  readonly #knownBefore = new Set<string>();

  constructor(private readonly send: Send<Options>) {}

  /** Called when the connection is lost: the next one may lead to another server. */
  onConnectionLost(): void {
    for (const sha1 of this.#known.keys()) this.#knownBefore.add(sha1);
    this.#known = new Map();
  }

  /** Resolves when it is known whether the server still has a script; undefined: calls of it need not wait for that. */
  showing({ sha1 }: RedisScript): Promise<unknown> | undefined {
    const known = this.#known.get(sha1);
    return known === true ? undefined : known;
  }

  /** @param words - from `wordsOf` */
  async call(script: RedisScript, words: ScriptArgument[], options: Options): Promise<ScriptReply> {
    const { source, sha1 } = script;
    const known = this.#known;
    try {
      if (known.has(sha1)) return await this.send('EVALSHA', words, options);
      if (this.#knownBefore.has(sha1)) return await this.#callFirst(script, words, options);
    } catch (error) {
      // The server has lost it (SCRIPT FLUSH, a restart), or refused the call before it read the script.
      if (!(isErrorReply(error) && error.message.startsWith('NOSCRIPT'))) throw error;
    }
    known.set(sha1, true);
    return this.send('EVAL', [source, ...words.slice(1)], options);
  }

  /** Makes the call that shows whether the server still has a script. */
  async #callFirst({ sha1 }: RedisScript, words: ScriptArgument[], options: Options): Promise<ScriptReply> {
    const known = this.#known;
    const reply = this.send('EVALSHA', words, options);
    known.set(
      sha1,
      reply.catch(() => undefined),
    );
    try {
      const answer = await reply;
      known.set(sha1, true);
      return answer;
    } catch (error) {
      if (isErrorReply(error)) known.set(sha1, true);
      else known.delete(sha1);
      throw error;
    }
  }
}
