import type { Redis } from 'ioredis';
import type { Clock } from '../../timing/clock.js';
import { setImmediate } from '../../timing/event-loop.js';
import { atMost, Pauses } from '../../timing/pauses.js';
import { ANSWER_GRACE, type Wire } from '../connection/wire.js';
import { explain, isErrorReply } from '../redis-errors.js';
import { loadScript } from '../script/redis-script.js';
import { ScriptReply } from '../script/script-reply.js';
import type { DoorbellHome, DoorbellPlace } from './doorbell-place.js';
import { type Unblock, Unblocker } from './unblocker.js';

/** How soon to ask again after the server said that no call was blocked, ms; doubles each time. */
const FIRST_PAUSE = 5;

/**
 * How often it may say so in a row, in about a second. After that, the client's id must be wrong, or the connections must lead to
 * different servers.
 */
const MOST_MISSES = 8;

/** How long a closing place waits, at most, until the server has stopped listening for it, ms. */
const CLOSE_TIMEOUT = 1000;

/** A ring that comes this soon after the call was sent, ms, is likely one of many. */
const DENSE = 50;

const takeTokens = loadScript('redis/take-tokens', {});

export interface SharedDoorbellOptions {
  readonly wire: Wire;
  readonly clock: Clock;
  /** Undefined if the doorbell will never have more than one place. */
  readonly unblock: Unblock | undefined;
  /** Called once it turns out that the server does not let this process end its blocked calls. */
  readonly onRefused: () => void;
  /** Called with the error if the keys of a call are in several slots: a proxy hides a cluster. */
  readonly onCrossSlot: (error: Error) => void;
  readonly onClosed: () => void;
}

/** A call under way. */
interface BlockedCall {
  readonly places: ReadonlyMap<string, DoorbellPlace>;
  readonly until: number;
  readonly answer: Promise<[key: string, token: string] | null>;
}

/**
 * One connection on which several consumers wait. It pops only tokens, never messages: whatever a crashed or half-open client
 * pops is lost, and a token is soon replaced.
 *
 * A blocked call keeps the keys that it was sent with. When a key joins, the call is ended with `CLIENT UNBLOCK` and sent again.
 * It blocks until the earliest of the waits is over, and this side watches the time too, because a server whose clock is
 * set back keeps a blocked client waiting longer.
 */
export class SharedDoorbell implements DoorbellHome {
  readonly #options: SharedDoorbellOptions;
  readonly #pauses: Pauses;
  readonly #unblocker: Unblocker | undefined;
  /** In the order in which the server looks for their tokens: the place that was rung for last comes last. */
  readonly #places = new Set<DoorbellPlace>();
  #isRunning = false;
  #call: BlockedCall | undefined;
  #isDense = false;
  #replacing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: SharedDoorbellOptions) {
    this.#options = options;
    this.#pauses = new Pauses(options.clock);
    const { wire, unblock, onRefused } = options;
    if (unblock) this.#unblocker = new Unblocker({ client: wire.client as Redis, unblock, onRefused });
  }

  get places(): readonly DoorbellPlace[] {
    return [...this.#places];
  }

  get size(): number {
    return this.#places.size;
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /** Whether one of its places has a key. A token would wake only one of several places with the same key. */
  has(key: string): boolean {
    for (const place of this.#places) if (place.key === key) return true;
    return false;
  }

  admit(place: DoorbellPlace): void {
    place.home = this;
    this.#places.add(place);
    if (place.isWaiting) this.listenFor(place);
  }

  /** Lets go of a place that moves to another doorbell. A ring of the call under way still reaches it. */
  release(place: DoorbellPlace): void {
    this.#places.delete(place);
  }

  listenFor(place: DoorbellPlace): void {
    if (!this.#isRunning) void this.#run();
    else if (this.#call && !isServed(place, this.#call)) void this.#replaceCall();
  }

  /** When the last place goes, the connection is closed. */
  async dismiss(place: DoorbellPlace): Promise<void> {
    this.#places.delete(place);
    await endOfTurn();
    if (this.#places.size === 0) return this.close();
    if (!this.#call?.places.has(place.key)) return;
    await atMost(this.#options.clock, CLOSE_TIMEOUT, this.#replaceCall());
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    const { wire, onClosed } = this.#options;
    this.#pauses.end();
    await wire.close();
    onClosed();
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
    const { wire, clock } = this.#options;
    await wire.ready('BLPOP', Math.max(0, this.#earliestEnd() - clock.monotonic()));
    const until = this.#earliestEnd();
    if (until === Infinity) return;
    // For the server, 0 would be forever.
    const timeout = Math.max(1, Math.ceil(until - clock.monotonic()));
    const listed = this.places.filter(({ isListed }) => isListed);
    this.#unblocker?.prepare();
    if (this.#isDense) void this.#ringWaiting();
    const sentAt = clock.monotonic();
    const answer = wire.client.blpop(...listed.map(({ key }) => key), timeout / 1000);
    const call = { places: new Map(listed.map((place) => [place.key, place])), until, answer };
    this.#call = call;
    try {
      const reply = await wire.answer(answer, timeout + ANSWER_GRACE);
      this.#isDense = reply !== null && clock.monotonic() - sentAt < DENSE;
      if (reply) this.#ring(call.places.get(reply[0])!);
      else this.#endWaits(call);
    } finally {
      this.#call = undefined;
    }
  }

  #ring(place: DoorbellPlace): void {
    if (this.#places.delete(place)) this.#places.add(place);
    place.ring();
  }

  /** Rings at once for all that have a token: the blocked call would take one token per turn of the event loop. */
  async #ringWaiting(): Promise<void> {
    const waiting = this.#waiting();
    if (waiting.length < 2) return;
    const keys = waiting.map(({ key }) => key);
    try {
      const reply = new ScriptReply(await this.#options.wire.client.eval(takeTokens.source, 0, ...keys));
      for (const position of reply.rest((each) => each.number())) this.#ring(waiting[position - 1]!);
    } catch {
      // The call that follows fails, too, or takes the tokens.
    }
  }

  /** All waits end with the earliest, so that the next ones begin together and share a call. */
  #endWaits({ until, places }: BlockedCall): void {
    // The call was cut short because a queue joined or left.
    if (this.#options.clock.monotonic() < until) return;
    for (const place of places.values()) place.endWait(false);
  }

  #fail(error: unknown): void {
    const { wire, onRefused, onCrossSlot } = this.#options;
    const waiting = this.#waiting();
    const isCrossSlot = isErrorReply(error) && error.message.startsWith('CROSSSLOT');
    if (wire.isClosed) for (const place of waiting) place.endWait(false);
    // The consumers find what came in the meantime when they look.
    else if (isCrossSlot || wire.isElsewhere(error)) for (const place of waiting) place.endWait(true);
    else for (const place of waiting) place.failWait(explain('BLPOP', error));
    if (isCrossSlot) onCrossSlot(error);
    // One list that is something else, or not permitted, must not silence the others.
    if (isErrorReply(error) && /^(WRONGTYPE|NOPERM)\b/.test(error.message)) onRefused();
  }

  #waiting(): DoorbellPlace[] {
    return this.places.filter(({ isWaiting }) => isWaiting);
  }

  #earliestEnd(): number {
    return Math.min(...this.places.map(({ waitsUntil }) => waitsUntil));
  }

  /** Ends the blocked call, so that the loop sends one with the current keys. All changes of one turn are made with one such call. */
  #replaceCall(): Promise<void> {
    return (this.#replacing ??= this.#replaceStaleCalls());
  }

  async #replaceStaleCalls(): Promise<void> {
    const { wire, onRefused } = this.#options;
    try {
      for (let misses = 0; misses < MOST_MISSES; misses++) {
        await endOfTurn();
        const call = this.#call;
        if (!call || !isStale(call, this.#waiting()) || this.isClosed) return;
        if (await this.#unblocker?.unblock()) {
          misses = -1;
          // If the call is not answered now, the connection is dead.
          await wire.answer(call.answer, ANSWER_GRACE).catch(() => undefined);
        } else await this.#pauses.take(FIRST_PAUSE * 2 ** misses);
      }
      onRefused();
    } catch {
      onRefused();
    } finally {
      // In the same step as the last look at the call, so that nobody waits for a loop that has ended.
      this.#replacing = undefined;
    }
  }
}

/** Whether a call does not listen for all places that wait, or listens for one that is closed. */
function isStale(call: BlockedCall, waiting: readonly DoorbellPlace[]): boolean {
  return [...call.places.values()].some(({ isClosed }) => isClosed) || !waiting.every((place) => isServed(place, call));
}

const isServed = (place: DoorbellPlace, { places, until }: BlockedCall) =>
  places.get(place.key) === place && until <= place.waitsUntil;

const endOfTurn = () => new Promise((resolve) => setImmediate(resolve));
