import type { Attributes } from '@opentelemetry/api';
import { familyOf, isFamily } from '../message/queue-name.js';
import { NO_TYPE } from '../message/message-id.js';

/** The name that this package gives to its tracer and its meter. */
export const SCOPE = 'nestjs-delay-queue';

/** Names under `messaging` and `error` are OpenTelemetry's conventions. All others are this package's own. */
const SYSTEM = 'messaging.system';
const OPERATION = 'messaging.operation.name';
const OPERATION_TYPE = 'messaging.operation.type';
const QUEUE = 'messaging.destination.name';
const FAMILY = 'messaging.destination.template';
export const MESSAGE_ID = 'messaging.message.id';
export const BATCH_SIZE = 'messaging.batch.message_count';
export const ERROR_TYPE = 'error.type';
const INSTANCE = 'delay_queue.instance';
const TYPE = 'delay_queue.message.type';
/** For spans only: in a metric, each group would create its own series. */
export const GROUP = 'delay_queue.message.group';
export const ATTEMPT = 'delay_queue.message.attempt';
export const LATENESS = 'delay_queue.message.lateness';
export const OUTCOME = 'delay_queue.message.outcome';
export const STATE = 'delay_queue.message.state';
export const DEATH_CAUSE = 'delay_queue.death.cause';
export const WORK = 'delay_queue.work';

const DELAY_QUEUE = 'delay_queue';

/** The outcome of a call whose messages have different outcomes. */
export const MIXED = 'mixed';

/** An operation on a queue. `TYPES` maps it to OpenTelemetry's operation type. */
export type Operation = 'offer' | 'process';
const TYPES: Readonly<Record<Operation, string>> = { offer: 'send', process: 'process' };

/* Attributes are assigned one by one, because they are created for every message, and spreading objects costs several times as much. */

/** Adds the attributes that OpenTelemetry's conventions require of every span and metric. */
export function addOperation(attributes: Attributes, operation: Operation): Attributes {
  attributes[SYSTEM] = DELAY_QUEUE;
  attributes[OPERATION] = operation;
  return attributes;
}

/** Adds the attributes that OpenTelemetry's conventions require of spans and durations. */
export function addOperationType(attributes: Attributes, operation: Operation): Attributes {
  attributes[OPERATION_TYPE] = TYPES[operation];
  return addOperation(attributes, operation);
}

export function addType(attributes: Attributes, type: string | undefined): Attributes {
  if (type !== undefined && type !== NO_TYPE) attributes[TYPE] = type;
  return attributes;
}

/** Names queues. In metrics and span names, a family stands for all its queues, each of which would otherwise create its own series. */
export class QueueNames {
  /** @param instance - the name of the queues' instance; undefined if it has none */
  constructor(
    private readonly families: readonly string[],
    private readonly instance?: string,
  ) {}

  /** True if metrics may use this name. A family such as `tenant-*` must be one of the configured families. */
  isKnown(queueOrFamily: string): boolean {
    return !isFamily(queueOrFamily) || this.families.includes(queueOrFamily);
  }

  inSpanName(queue: string): string {
    return familyOf(queue, this.families) ?? queue;
  }

  ofSpan(queue: string): Attributes {
    const family = familyOf(queue, this.families);
    return this.#addInstance(family === undefined ? { [QUEUE]: queue } : { [QUEUE]: queue, [FAMILY]: family });
  }

  ofMetric(queue: string): Attributes {
    const family = familyOf(queue, this.families);
    return this.#addInstance(family === undefined ? { [QUEUE]: queue } : { [FAMILY]: family });
  }

  ofNoQueue(): Attributes {
    return this.#addInstance({});
  }

  #addInstance(attributes: Attributes): Attributes {
    if (this.instance !== undefined) attributes[INSTANCE] = this.instance;
    return attributes;
  }
}
