/** Where the Redis of a measurement is. */
export interface Server {
  readonly host: string;
  readonly port: number;
}

/** What every message carries. */
export interface Payload {
  /** When the message should be handled: the moment of the offer plus its delay, by the clock of this machine. */
  readonly due: number;
  readonly fill: string;
}

export interface Offer {
  readonly payload: Payload;
  /** Milliseconds. */
  readonly delay: number;
}

/** Offers through the public interface of a system, as its documentation tells to. */
export interface Producer {
  /** Resolves to the id of the message when Redis has taken it in. */
  offer(offer: Offer): Promise<string>;
  /** Many at once, by whatever the system has for that. */
  offerMany(offers: readonly Offer[]): Promise<void>;
  cancel(id: string): Promise<void>;
  /** Undefined: the system cannot do that. */
  readonly reschedule?: (id: string, delay: number) => Promise<void>;
}

/** One system under test. */
export interface Adapter {
  openProducer(server: Server): Promise<Producer>;
  /** Calls `handle` for every message that is due, {@link CONCURRENCY} at once, until the process ends. */
  startConsumer(server: Server, handle: (payload: Payload) => void): Promise<void>;
}

export const QUEUE = 'bench';
export const CONCURRENCY = 100;
