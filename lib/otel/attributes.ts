import type { Attributes } from '@opentelemetry/api';
import { familyOf, isFamily } from '../message/queue-family.js';
import { NO_TYPE } from '../message/message-type.js';

/** What tracers and meters are asked for by. */
export const SCOPE = 'nestjs-delay-queue';

/** The names under `messaging` and `error` are OpenTelemetry's conventions, the others are this package's. */
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
/** Of spans alone: in a metric, each group would make a series of its own. */
export const GROUP = 'delay_queue.message.group';
export const ATTEMPT = 'delay_queue.message.attempt';
export const LATENESS = 'delay_queue.message.lateness';
export const OUTCOME = 'delay_queue.message.outcome';
export const STATE = 'delay_queue.message.state';
export const DEATH_CAUSE = 'delay_queue.death.cause';
export const WORK = 'delay_queue.work';

/** The value of {@link SYSTEM}. */
const DELAY_QUEUE = 'delay_queue';

/** The outcome of a call whose messages have several. */
export const MIXED = 'mixed';

/** What is done with a queue, and OpenTelemetry's word for it. */
export type Operation = 'offer' | 'process';
const TYPES: Readonly<Record<Operation, string>> = { offer: 'send', process: 'process' };

/*
 * Attributes are made for every message, so they are assigned one by one: to spread several objects into one costs a multiple.
 */

/** Adds what OpenTelemetry's conventions want of every span and metric. */
export function addOperation(attributes: Attributes, operation: Operation): Attributes {
  attributes[SYSTEM] = DELAY_QUEUE;
  attributes[OPERATION] = operation;
  return attributes;
}

/** Adds what they want of spans and durations besides. */
export function addOperationType(attributes: Attributes, operation: Operation): Attributes {
  attributes[OPERATION_TYPE] = TYPES[operation];
  return addOperation(attributes, operation);
}

export function addType(attributes: Attributes, type: string | undefined): Attributes {
  if (type !== undefined && type !== NO_TYPE) attributes[TYPE] = type;
  return attributes;
}

/** How queues are named. Each queue of a family would make a series of its own, so metrics and names of spans have the family. */
export class QueueNames {
  /** @param instance - whose queues they are; undefined: those of the instance without a name */
  constructor(
    private readonly families: readonly string[],
    private readonly instance?: string,
  ) {}

  /** Whether metrics have this name; `tenant-*` only if it is one of the families. */
  isKnown(queueOrFamily: string): boolean {
    return !isFamily(queueOrFamily) || this.families.includes(queueOrFamily);
  }

  /** For the name of a span. */
  inSpanName(queue: string): string {
    return familyOf(queue, this.families) ?? queue;
  }

  /** New attributes of a span. */
  ofSpan(queue: string): Attributes {
    const family = familyOf(queue, this.families);
    return this.#addInstance(family === undefined ? { [QUEUE]: queue } : { [QUEUE]: queue, [FAMILY]: family });
  }

  /** New attributes of a metric. */
  ofMetric(queue: string): Attributes {
    const family = familyOf(queue, this.families);
    return this.#addInstance(family === undefined ? { [QUEUE]: queue } : { [FAMILY]: family });
  }

  /** New attributes of a metric that is of no queue. */
  ofNoQueue(): Attributes {
    return this.#addInstance({});
  }

  #addInstance(attributes: Attributes): Attributes {
    if (this.instance !== undefined) attributes[INSTANCE] = this.instance;
    return attributes;
  }
}
