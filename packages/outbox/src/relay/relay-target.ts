import type { DelayQueueProducer } from 'nestjs-delay-queue';

/** The calls that a relay makes. */
export type RelayedCalls = Pick<DelayQueueProducer, 'offer' | 'offerAt' | 'cancel' | 'reschedule'>;

/** What a producer of nestjs-delay-queue has for relays. */
export interface RelayTarget {
  /** How long a call may take, ms. */
  readonly offerTimeout: number;
  /** The id of the place that the calls lead to; undefined: it has none, and none was proposed. */
  id(proposed?: string): Promise<string | undefined>;
  /** Where that is, as this process has the addresses of the servers. */
  addresses(): Promise<readonly string[]>;
  /** Calls that take effect before an instant of `performance.now()`, or never. */
  before(notAfter: number): RelayedCalls;
}

/** Undefined: it is something else that was given as `producer`, whose target is not known. */
export function targetOf(producer: DelayQueueProducer): RelayTarget | undefined {
  return (producer as { readonly relayTarget?: RelayTarget }).relayTarget;
}
