import type { Attributes } from '@opentelemetry/api';
import { familyOf } from '../message/queue-family.js';
import { NO_TYPE } from '../message/message-type.js';

/** What tracers and meters are asked for by. */
export const SCOPE = 'nestjs-delay-queue';

/** The names under `messaging` and `error` are OpenTelemetry's conventions, the others are this package's. */
export const SYSTEM = { 'messaging.system': 'delay_queue' } as const;
export const OFFER = { 'messaging.operation.name': 'offer', 'messaging.operation.type': 'send' } as const;
export const PROCESS = { 'messaging.operation.name': 'process', 'messaging.operation.type': 'process' } as const;
export const QUEUE = 'messaging.destination.name';
export const FAMILY = 'messaging.destination.template';
export const MESSAGE_ID = 'messaging.message.id';
export const BATCH_SIZE = 'messaging.batch.message_count';
export const ERROR_TYPE = 'error.type';
export const TYPE = 'delay_queue.message.type';
export const ATTEMPT = 'delay_queue.message.attempt';
export const LATENESS = 'delay_queue.message.lateness';
export const OUTCOME = 'delay_queue.message.outcome';
export const STATE = 'delay_queue.message.state';
export const DEATH_CAUSE = 'delay_queue.death.cause';
export const WORK = 'delay_queue.work';

/** Of messages of several outcomes. */
export const MIXED = 'mixed';

/** The attribute of a type, unless there is none. */
export function ofType(type: string | undefined): Attributes {
  return type === undefined || type === NO_TYPE ? {} : { [TYPE]: type };
}

/** How queues are named. Each queue of a family would make a series of its own, so metrics and names of spans have the family. */
export class QueueNames {
  constructor(private readonly families: readonly string[]) {}

  /** For the name of a span. */
  inSpanName(queue: string): string {
    return familyOf(queue, this.families) ?? queue;
  }

  ofSpan(queue: string): Attributes {
    const family = familyOf(queue, this.families);
    return { ...SYSTEM, [QUEUE]: queue, ...(family !== undefined && { [FAMILY]: family }) };
  }

  ofMetric(queue: string): Attributes {
    const family = familyOf(queue, this.families);
    return family === undefined ? { ...SYSTEM, [QUEUE]: queue } : { ...SYSTEM, [FAMILY]: family };
  }
}
