/** Where a server listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** The server of a measurement: Redis, unless the system needs another. */
export interface Server extends Address {
  /** If it is a cluster: all its servers. */
  readonly nodes?: readonly Address[];
}

/** Payload of every message. */
export interface Payload {
  /** The moment of the offer plus the delay, ms since the epoch. */
  readonly due: number;
  readonly fill: string;
}

export interface Offer {
  readonly payload: Payload;
  /** Milliseconds. */
  readonly delay: number;
}

/** Cost of some work for its process. */
export interface Cost {
  /** Milliseconds. */
  readonly took: number;
  /** Processor time, µs. */
  readonly cpu: number;
}

/** Offers through the public interface of a system, the way its documentation recommends. */
export interface Producer {
  /** Resolves to the id of the message once the server has stored it. */
  offer(offer: Offer): Promise<string>;
  /** Undefined: the system has no call that offers several messages; then there is {@link offerAll}. */
  readonly offerMany?: (offers: readonly Offer[]) => Promise<void>;
  /**
   * Calls `offer` for each message with `inFlight` calls under way, and measures that. Only for a system that runs in
   * another program, so that the way there is not measured too.
   */
  readonly offerAll?: (offers: readonly Offer[], inFlight: number) => Promise<Cost>;
  /** Undefined: the system cannot cancel by id, or takes part in no scenario that cancels. */
  readonly cancel?: (id: string) => Promise<void>;
  /** Undefined: the system cannot reschedule, or takes part in no scenario that does. */
  readonly reschedule?: (id: string, delay: number) => Promise<void>;
}

/**
 * The handler of every message. A promise: the message is handled once it resolves.
 *
 * `at`: when the handler got the message, ms since the epoch; now, unless another program handled it.
 */
export type Handle = (payload: Payload, at?: number) => Promise<void> | undefined;

/** One system under test. */
export interface Adapter {
  openProducer(server: Server): Promise<Producer>;
  /** Calls `handle` for every due message, {@link CONCURRENCY} at a time, until the process ends. */
  startConsumer(server: Server, handle: Handle): Promise<void>;
  /** Serves many queues, which stay empty, until the process ends. */
  readonly serveQueues?: (server: Server, queues: readonly string[]) => Promise<void>;
}

export const QUEUE = 'bench';
export const CONCURRENCY = 100;
