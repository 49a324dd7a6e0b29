import type { Redis } from 'ioredis';
import type { Events } from '../events/events.js';
import type { CancelTimer, Clock } from '../timing/clock.js';
import { setImmediate } from '../timing/event-loop.js';
import { atMost, sleep } from '../timing/pauses.js';
import { ANSWER_GRACE, type Connection } from './connection/redis-connection.js';
import { explain, isErrorReply } from './redis-errors.js';
import { ownFunctions } from './script/redis-library.js';
import { ScriptReply } from './script/script-call.js';

/** Maximum number of keys that share a connection. A signal costs Redis about 25 µs with one key, and 64 µs with this many. */
const MAX_KEYS = 64;

/** How long a signal is kept for a consumer that is not waiting, ms. Most claims take less. */
const KEPT = 25;

/** A signal that arrives within this many ms of sending the call is probably one of many. */
const DENSE = 50;

/** First pause before the next attempt to unblock a call, after the server said that no call was blocked, ms. It doubles each time. */
const FIRST_PAUSE = 5;

/** Maximum number of failed attempts in a row (about a second). More suggest a wrong client id, or connections to different servers. */
const MAX_MISSES = 8;

/** How long a closing signal waits for the server to stop popping its key, ms. */
const CLOSE_TIMEOUT = 1000;

export interface WakeSignalsOptions {
  readonly clock: Clock;
  readonly events: Events;
  readonly open: (key: string) => Connection;
  /**
   * Sends `CLIENT UNBLOCK` over another connection, and returns true if a call was blocked. Undefined for a cluster: a call there cannot
   * name keys of several hash slots, so each key has its own connection.
   */
  readonly unblock: ((clientId: number) => Promise<boolean>) | undefined;
}

/** The wake-up signals of a process, which share connections if the server allows it. */
export class WakeSignals {
  readonly #connections = new Set<SharedConnection>();
  #isShared: boolean;

  constructor(private readonly options: WakeSignalsOptions) {
    this.#isShared = options.unblock !== undefined;
  }

  /** @param wakeAnother - puts a signal back for other consumers */
  open(key: string, wakeAnother: () => Promise<void>): WakeSignal {
    return this.#assign(new WakeSignal(key, wakeAnother, this.options.clock));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections].map((connection) => connection.close()));
  }

  #assign(signal: WakeSignal): WakeSignal {
    const shared = this.#isShared ? [...this.#connections].find((each) => each.hasRoomFor(signal)) : undefined;
    (shared ?? this.#openConnection(signal.key)).add(signal);
    return signal;
  }

  #openConnection(key: string): SharedConnection {
    const { clock, events, open, unblock } = this.options;
    const connection: SharedConnection = new SharedConnection(open(key), {
      clock,
      unblock: this.#isShared ? unblock : undefined,
      onUnshareable: (error) => {
        if (this.#isShared && isCrossSlot(error)) events.note('wake-signals-separated', { reason: error.message });
        this.#separate();
      },
      onClosed: () => this.#connections.delete(connection),
    });
    this.#connections.add(connection);
    return connection;
  }

  /** From now on, gives each key its own connection. */
  #separate(): void {
    if (!this.#isShared) return;
    this.#isShared = false;
    for (const signal of [...this.#connections].flatMap((connection) => connection.keepOne())) this.#assign(signal);
  }
}

interface Waiter {
  readonly until: number;
  readonly resolve: (isAwake: boolean) => void;
  readonly reject: (error: Error) => void;
}

/**
 * The wake-up signal of one consumer. A woken consumer soon waits again, so its key stays in subsequent calls. A signal that arrives
 * between two waits ends the next wait at once. If that wait does not begin soon, the signal wakes another consumer.
 */
export class WakeSignal {
  /** The connection on which the signal is awaited. It may change. */
  connection!: SharedConnection;
  waiter: Waiter | undefined;
  /** True if the next call should include the key. Becomes false when a signal has been passed on to another consumer. */
  isListed = false;
  isClosed = false;
  #isAway = true;
  /** Cancels keeping a signal; undefined if none is kept. */
  #cancelKeeping: CancelTimer | undefined;

  constructor(
    readonly key: string,
    private readonly wakeAnother: () => Promise<void>,
    private readonly clock: Clock,
  ) {}

  async wait(timeout: number): Promise<boolean> {
    this.endWait(false);
    if (this.isClosed) return false;
    this.#isAway = false;
    this.isListed = true;
    if (this.#takeKept()) return true;
    return new Promise((resolve, reject) => {
      this.waiter = { until: this.clock.monotonic() + timeout, resolve, reject };
      this.connection.listenFor(this);
    });
  }

  leave(): void {
    this.#isAway = true;
    this.endWait(false);
    if (this.#takeKept()) this.#passOn();
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.leave();
    await this.connection.remove(this);
  }

  onSignal(): void {
    if (this.waiter) this.endWait(true);
    else if (this.#isAway) this.#passOn();
    else this.#cancelKeeping ??= this.clock.schedule(() => this.leave(), KEPT);
  }

  /** @param result - true to wake the consumer, or the error with which its wait fails */
  endWait(result: boolean | Error): void {
    const { waiter } = this;
    this.waiter = undefined;
    if (result instanceof Error) waiter?.reject(result);
    else waiter?.resolve(result);
  }

  #passOn(): void {
    this.isListed = false;
    // If this fails, the next transfer wakes a consumer.
    this.wakeAnother().catch(() => undefined);
  }

  #takeKept(): boolean {
    const isKept = this.#cancelKeeping !== undefined;
    this.#cancelKeeping?.();
    this.#cancelKeeping = undefined;
    return isKept;
  }
}

interface SharedConnectionOptions extends Pick<WakeSignalsOptions, 'clock' | 'unblock'> {
  /** Called when several keys turn out to be unable to share a call, with the server's error, if it reported one. */
  readonly onUnshareable: (error?: unknown) => void;
  readonly onClosed: () => void;
}

interface BlockedCall {
  readonly signals: ReadonlyMap<string, WakeSignal>;
  readonly until: number;
  readonly answer: Promise<[key: string, token: string] | null>;
}

/**
 * One connection on which several consumers wait. It pops only signals, never messages: whatever a crashed or half-open client pops is
 * lost, and a signal is soon replaced. The keys of a blocked call are fixed, so when a key joins, the call is ended with `CLIENT UNBLOCK`
 * and sent again. The call blocks until the earliest wait ends. This process also watches the time, because a server whose clock is set
 * back keeps a blocked client waiting longer.
 */
class SharedConnection {
  /** The signals in the order in which the server checks them. The one popped most recently comes last. */
  readonly #signals = new Set<WakeSignal>();
  /** The client's id, requested before a call that may need to be ended; undefined if unknown. */
  #clientId: Promise<number | undefined> | undefined;
  #isRunning = false;
  #call: BlockedCall | undefined;
  #isDense = false;
  #replacing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    private readonly connection: Connection,
    private readonly options: SharedConnectionOptions,
  ) {
    if (options.unblock) connection.client.on('close', () => (this.#clientId = undefined));
  }

  /** True if the connection can take another key. False for a key that it has: one signal would wake only one of that key's consumers. */
  hasRoomFor({ key }: WakeSignal): boolean {
    return !this.#closing && this.#signals.size < MAX_KEYS && [...this.#signals].every((each) => each.key !== key);
  }

  add(signal: WakeSignal): void {
    signal.connection = this;
    this.#signals.add(signal);
    if (signal.waiter) this.listenFor(signal);
  }

  /** Removes all signals but the first. Anything that the current call pops still reaches the removed ones. */
  keepOne(): WakeSignal[] {
    const others = [...this.#signals].slice(1);
    for (const signal of others) this.#signals.delete(signal);
    return others;
  }

  listenFor(signal: WakeSignal): void {
    if (!this.#isRunning) void this.#run();
    else if (this.#call && !isServed(signal, this.#call)) void this.#replaceCall();
  }

  /** Resolves once nothing can be popped for the signal. Removing the last signal closes the connection. */
  async remove(signal: WakeSignal): Promise<void> {
    this.#signals.delete(signal);
    await endOfTurn();
    if (this.#signals.size === 0) return this.close();
    if (this.#call?.signals.has(signal.key)) await atMost(this.options.clock, CLOSE_TIMEOUT, this.#replaceCall());
  }

  close(): Promise<void> {
    return (this.#closing ??= this.connection.close().then(this.options.onClosed));
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      while (this.#waiting().length > 0) await this.#listen();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isRunning = false;
    }
  }

  async #listen(): Promise<void> {
    const { connection } = this;
    const { clock } = this.options;
    await connection.ready('BLPOP', Math.max(0, this.#earliestEnd() - clock.monotonic()));
    const until = this.#earliestEnd();
    if (until === Infinity) return;
    // The server takes 0 to mean no limit.
    const timeout = Math.max(1, Math.ceil(until - clock.monotonic()));
    const listed = [...this.#signals].filter(({ isListed }) => isListed);
    if (this.options.unblock) this.#clientId ??= this.#askClientId();
    if (this.#isDense) void this.#takeAll();
    const sentAt = clock.monotonic();
    const answer = connection.client.blpop(...listed.map(({ key }) => key), timeout / 1000);
    const call = { signals: new Map(listed.map((signal) => [signal.key, signal])), until, answer };
    this.#call = call;
    try {
      const reply = await connection.answer(answer, timeout + ANSWER_GRACE);
      this.#isDense = reply !== null && clock.monotonic() - sentAt < DENSE;
      if (reply) this.#onSignal(call.signals.get(reply[0])!);
      // All waits end with the earliest, so the next ones begin together and share a call. If the call ended earlier, a key joined or left.
      else if (clock.monotonic() >= until) for (const signal of listed) signal.endWait(false);
    } finally {
      this.#call = undefined;
    }
  }

  #onSignal(signal: WakeSignal): void {
    if (this.#signals.delete(signal)) this.#signals.add(signal);
    signal.onSignal();
  }

  /** Takes the signals of all waiting consumers in one call. The blocked call would take only one per turn of the event loop. */
  async #takeAll(): Promise<void> {
    const waiting = this.#waiting();
    if (waiting.length < 2) return;
    const keys = waiting.map(({ key }) => key);
    try {
      const reply = new ScriptReply(
        await this.connection.client.eval(ownFunctions.takeSignals.scripts[0]!.source, 0, ...keys),
      );
      for (const position of reply.rest((each) => each.number())) this.#onSignal(waiting[position - 1]!);
    } catch {
      // The next call will fail too, or take the signals.
    }
  }

  #fail(error: unknown): void {
    const { connection } = this;
    // If the keys cannot be awaited together or here, wakes the consumers, which then look for what they missed.
    const isWoken = isCrossSlot(error) || connection.isElsewhere(error);
    const result = connection.isClosed ? false : isWoken || explain('BLPOP', error);
    for (const signal of this.#waiting()) signal.endWait(result);
    // A key of the wrong type, or without permission, must not silence the other keys.
    if (isErrorReply(error) && /^(CROSSSLOT|WRONGTYPE|NOPERM)\b/.test(error.message)) this.options.onUnshareable(error);
  }

  #waiting(): WakeSignal[] {
    return [...this.#signals].filter(({ waiter }) => waiter);
  }

  #earliestEnd(): number {
    return Math.min(...[...this.#signals].map(({ waiter }) => waiter?.until ?? Infinity));
  }

  /** Ends the blocked call, so that the loop sends one with the current keys. All changes in a turn share one call. */
  #replaceCall(): Promise<void> {
    return (this.#replacing ??= this.#endStaleCalls());
  }

  async #endStaleCalls(): Promise<void> {
    try {
      for (let misses = 0; misses < MAX_MISSES; misses++) {
        await endOfTurn();
        const call = this.#call;
        if (!call || !isStale(call, this.#waiting()) || this.#closing) return;
        if (await this.#unblock()) {
          misses = -1;
          // If the call is still not answered, the connection is dead.
          await this.connection.answer(call.answer, ANSWER_GRACE).catch(() => undefined);
        } else await sleep(this.options.clock, FIRST_PAUSE * 2 ** misses);
      }
      this.options.onUnshareable();
    } catch {
      this.options.onUnshareable();
    } finally {
      // Done in the same step as the last check of the call, so that nobody waits for a loop that has ended.
      this.#replacing = undefined;
    }
  }

  async #askClientId(): Promise<number | undefined> {
    try {
      return await (this.connection.client as Redis).client('ID');
    } catch (error) {
      if (isRefusal(error)) this.options.onUnshareable();
      this.#clientId = undefined;
      return undefined;
    }
  }

  /** @returns true if a call was blocked; false if none was, or not yet @throws the server's error if it refuses to end calls */
  async #unblock(): Promise<boolean> {
    const clientId = await this.#clientId;
    if (clientId === undefined) return false;
    try {
      return await this.options.unblock!(clientId);
    } catch (error) {
      if (isRefusal((error as Error).cause)) throw error;
      return false;
    }
  }
}

/** True if a call misses a waiting signal, or listens for a closed one. */
function isStale(call: BlockedCall, waiting: readonly WakeSignal[]): boolean {
  return [...call.signals.values()].some(({ isClosed }) => isClosed) || !waiting.every((each) => isServed(each, call));
}

const isServed = (signal: WakeSignal, { signals, until }: BlockedCall) =>
  signals.get(signal.key) === signal && until <= (signal.waiter?.until ?? Infinity);

/** True if a proxy that hides a cluster rejects a call with keys of several hash slots. */
const isCrossSlot = (error: unknown): error is Error => isErrorReply(error) && error.message.startsWith('CROSSSLOT');

/** False for an error that may be temporary, such as `BUSY` or `LOADING`. */
const isRefusal = (error: unknown) => isErrorReply(error) && /^(NOPERM|ERR)\b/.test(error.message);

const endOfTurn = () => new Promise((resolve) => setImmediate(resolve));
