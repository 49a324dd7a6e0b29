/** Where a server listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** The Redis of a measurement. */
export interface Server extends Address {
  /** If it is a cluster: all its servers. */
  readonly nodes?: readonly Address[];
}

/** What every message carries. */
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

/** What some work took the process that did it. */
export interface Cost {
  /** Milliseconds. */
  readonly took: number;
  /** Processor time, µs. */
  readonly cpu: number;
}

/** Offers through the public interface of a system, the way its documentation recommends. */
export interface Producer {
  /** Resolves to the id of the message once Redis has stored it. */
  offer(offer: Offer): Promise<string>;
  /** Undefined: the system has no call that offers several messages; then there is {@link offerAll}. */
  readonly offerMany?: (offers: readonly Offer[]) => Promise<void>;
  /**
   * Calls `offer` for each message with `inFlight` calls under way, and measures that. Only for a system that runs in
   * another program, so that the way there is not measured too.
   */
  readonly offerAll?: (offers: readonly Offer[], inFlight: number) => Promise<Cost>;
  /** Undefined: the system cannot cancel by id. */
  readonly cancel?: (id: string) => Promise<void>;
  /** Undefined: the system cannot reschedule. */
  readonly reschedule?: (id: string, delay: number) => Promise<void>;
}

/** `at`: when the handler got the message, ms since the epoch; now, unless another program handled it. */
export type Handle = (payload: Payload, at?: number) => void;

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
