import { type Counter, type Histogram, type Meter, type MetricOptions, metrics } from '@opentelemetry/api';
import { SCOPE } from './attributes.js';

/** The bucket boundaries of both duration histograms, in seconds, as in OpenTelemetry's conventions. */
const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** The bucket boundaries for lateness, from normal to alarming, in seconds. */
const LATENESSES = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];

const MESSAGES = '{message}';

/** Instruments that record a value when something happens. */
export interface Instruments {
  readonly sent: Counter;
  readonly offering: Histogram;
  readonly consumed: Counter;
  readonly processing: Histogram;
  readonly lateness: Histogram;
  readonly transferred: Counter;
  readonly died: Counter;
  readonly dropped: Counter;
  readonly expired: Counter;
  readonly leasesLost: Counter;
  readonly leasesExpired: Counter;
  readonly workFailures: Counter;
}

export function createInstruments(): Instruments {
  const meter = metrics.getMeter(SCOPE);
  const messages = (name: string, description: string) => meter.createCounter(name, { unit: MESSAGES, description });
  return {
    sent: messages('messaging.client.sent.messages', 'Messages that this process has offered or tried to offer.'),
    offering: seconds(meter, 'messaging.client.operation.duration', 'How long offers take.', DURATIONS),
    consumed: messages('messaging.client.consumed.messages', 'Messages whose handler is done or has failed.'),
    processing: seconds(meter, 'messaging.process.duration', 'How long calls of handlers take.', DURATIONS),
    lateness: seconds(meter, 'delay_queue.message.lateness', "From due to handled, by Redis' clock.", LATENESSES),
    transferred: messages('delay_queue.messages.transferred', 'Messages that fell due and became ready.'),
    died: messages('delay_queue.dead_letters.created', 'Messages that became dead letters.'),
    dropped: messages('delay_queue.dead_letters.dropped', 'Dead letters removed because of maxDeadLetters.'),
    expired: messages('delay_queue.messages.expired', 'Messages that could not be handled in time.'),
    leasesLost: messages('delay_queue.leases.lost', 'Messages handled by a handler that no longer held them.'),
    leasesExpired: messages('delay_queue.leases.expired', 'Messages recovered because their leases expired.'),
    workFailures: meter.createCounter('delay_queue.work.failures', {
      unit: '{failure}',
      description: 'Background work that fails: counted when it begins to fail, and once a minute while it lasts.',
    }),
  };
}

function seconds(meter: Meter, name: string, description: string, explicitBucketBoundaries: number[]): Histogram {
  const options: MetricOptions = { unit: 's', description, advice: { explicitBucketBoundaries } };
  return meter.createHistogram(name, options);
}
