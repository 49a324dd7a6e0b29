import { closed, explain } from '../../../lib/redis/redis-errors.js';
import type {
  ClaimedTransfer,
  ClaimReport,
  DueListener,
  TransferReport,
  WakeSignal,
} from '../../../lib/store/consumer-store.js';
import type { MessageStore } from '../../../lib/store/message-store.js';
import type { Link } from './link.js';
import type { StoreLimits } from '../../../lib/store/message-store.js';
import type { SentLimits, ServedStore } from './served-store.js';
import type { Subscriptions } from './subscriptions.js';

const CALLS = [
  ...['offer', 'cancel', 'reschedule', 'change', 'find', 'transfer', 'transferAndClaim', 'claim', 'wake', 'extend'],
  ...[
    'remember',
    'freeId',
    'settle',
    'abort',
    'repair',
    'status',
    'countTypes',
    'countDue',
    'pause',
    'resume',
    'pauseRepeat',
    'clear',
    'list',
    'listGroup',
    'setGroup',
    'listGroups',
    'listHolders',
    'redrive',
  ],
  'discard',
] as const;

export const TRANSFERS: readonly string[] = ['transfer', 'transferAndClaim'];

/** How long after the end of its time a wait without an answer fails, ms: a client gives up by itself. */
export const WAIT_GRACE = 5000;

/** The time for which the server may not notice that a process is gone, ms. */
export const MAX_LINGERING = 20_000;

/** A call that has taken effect. */
export interface Effect {
  readonly queue: string;
  readonly store: ServedStore;
  readonly call: string;
  readonly args: readonly unknown[];
  readonly result: unknown;
  /** When its process made it, ms of the world. */
  readonly sentAt: number;
}

/** The messages that a call has claimed; none, if it claims nothing. */
export function claimedBy({ call, result }: Pick<Effect, 'call' | 'result'>): ClaimReport['messages'] {
  if (call === 'claim') return (result as ClaimReport).messages;
  if (call !== 'transferAndClaim') return [];
  return (result as ClaimedTransfer | undefined)?.claimed.messages ?? [];
}

/** Called with each call that takes effect, before its answer leaves. */
export type OnEffect = (effect: Effect) => void;

/** Called with the report of each transfer whose answer arrives. */
export type OnTransferAnswered = (of: Pick<Effect, 'queue' | 'store'>, report: TransferReport) => void;

/** The report of a transfer; undefined: there was none, or the call is another one. */
const reportOf = (call: string, result: unknown): TransferReport | undefined =>
  call === 'transfer' ? (result as TransferReport) : (result as ClaimedTransfer | undefined)?.report;

export interface RemoteStoreOptions {
  readonly queue: string;
  readonly store: ServedStore;
  readonly link: Link;
  readonly subscriptions: Subscriptions;
  readonly onEffect: OnEffect;
  readonly onTransferAnswered: OnTransferAnswered;
  /** As the process knows them. Undefined: those of the store, which do not change. */
  readonly limits?: StoreLimits | undefined;
}

/** A store at the other end of the network. */
export function remoteStore(options: RemoteStoreOptions): MessageStore {
  const { queue, store, link, subscriptions, onEffect, onTransferAnswered, limits } = options;
  const { world } = link.process;
  const perform = async (call: string, args: readonly unknown[], sentAt: number, sent: SentLimits | undefined) => {
    const result = await store.perform(call, args, sent);
    try {
      onEffect({ queue, store, call, args, result, sentAt });
    } catch (error) {
      // A mistake of the oracle is no failure of the call: it ends the run.
      void Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
    return result;
  };
  const send = async (call: string, args: readonly unknown[]) => {
    const sentAt = world.now;
    const sent = limits && { rate: limits.rate ?? null, globalConcurrency: limits.globalConcurrency ?? null };
    const result = await link.call(call, () => perform(call, args, sentAt, sent), queue);
    const report = TRANSFERS.includes(call) ? reportOf(call, result) : undefined;
    if (report) onTransferAnswered({ queue, store }, report);
    return result;
  };
  const calls = Object.fromEntries(
    CALLS.filter((call) => store.has(call)).map((call) => [call, (...args: unknown[]) => send(call, args)]),
  );
  if (limits) {
    // As in Redis: a claim needs to know the limits, and with a limit no call does both.
    const { claim, transferAndClaim } = calls;
    calls.claim = async (...args) => {
      await limits.known;
      return claim!(...args);
    };
    calls.transferAndClaim = async (...args) => {
      await limits.known;
      return limits.rate || limits.globalConcurrency ? undefined : transferAndClaim!(...args);
    };
  }
  const rest = {
    watchDue: (listener: DueListener) => {
      const unwatch = limits?.watch?.(() => listener.onLimits?.());
      const leave = subscriptions.open(
        queue,
        (deliver) =>
          store.watchDue({
            onEarlierDue: (announcement) => deliver(() => listener.onEarlierDue(announcement)),
            onTransfer: (transfer) => deliver(() => listener.onTransfer?.(transfer)),
            onAbort: (claim) => deliver(() => listener.onAbort?.(claim)),
            onLimits: () => deliver(() => limits?.refresh?.()),
            onListening: () =>
              deliver(() => {
                limits?.refresh?.();
                listener.onListening();
              }),
          }),
        listener,
      );
      return () => {
        leave();
        unwatch?.();
      };
    },
    openWakeSignal: () => new RemoteWakeSignal(store, link),
  };
  return { ...calls, ...rest } as unknown as MessageStore;
}

/** One wait at a time, each on the server with a client of its own. */
class RemoteWakeSignal implements WakeSignal {
  #isClosed = false;
  /** The wait that is under way at the server. */
  #signal: WakeSignal | undefined;

  constructor(
    private readonly store: ServedStore,
    private readonly link: Link,
  ) {
    const { process } = link;
    // The server may not notice for a while that a process is gone; until then, its client still takes what rings.
    process.onDeath(() => process.world.after(link.draw() < 0.3 ? MAX_LINGERING : 1, () => void this.#signal?.close()));
  }

  wait(timeout: number): Promise<boolean> {
    const { link } = this;
    const { process } = link;
    const { world } = process;
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return resolve(false);
      let isOver = false;
      const end = () => {
        const wasOver = isOver;
        isOver = true;
        forgetCut();
        return !wasOver;
      };
      const fail = (at: number) =>
        void world.at(
          at,
          () => reject(this.#isClosed ? closed('BLPOP') : explain('BLPOP', new Error('Connection is closed.'))),
          process,
        );
      const forgetCut = link.onCut(() => {
        void this.#signal?.close();
        if (end()) fail(world.now + link.latency());
      });
      if (link.isDown) {
        end();
        return fail(link.upAt + link.latency());
      }
      // Whatever happens, the client has an answer by then.
      const giveUp = world.at(process.now + timeout + WAIT_GRACE, () => {
        if (end()) fail(world.now);
      });
      world.at(process.now + link.latency(), () => {
        if (isOver) return;
        // Its connection was closed while it was under way.
        if (this.#isClosed) {
          giveUp.task = undefined;
          if (end()) world.at(world.now + link.latency(), () => resolve(false), process);
          return;
        }
        const signal = (this.#signal = this.store.openWakeSignal());
        void signal.wait(timeout).then((woken) => {
          if (isOver) return;
          if (link.areWaitsDead) return;
          giveUp.task = undefined;
          if (end()) world.at(world.now + link.latency(), () => resolve(woken), process);
        });
      });
    });
  }

  leave(): void {
    const { process } = this.link;
    if (!this.link.isDown) process.world.at(process.now + this.link.latency(), () => this.#signal?.leave());
  }

  close(): Promise<void> {
    const { process } = this.link;
    const { world } = process;
    this.#isClosed = true;
    return new Promise((resolve) => {
      world.at(process.now + this.link.latency(), () => {
        void this.#signal?.close();
        world.at(world.now + this.link.latency(), resolve, process);
      });
    });
  }
}
