import type { PayloadCheck } from './definition/payload-check.js';
import {
  checksOf,
  definitionOf,
  instanceOfQueue,
  type QueueDefinition,
  typesOf,
} from './definition/queue-definition.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { isMessageType, MESSAGE_TYPE_RULE, NO_TYPE } from '../message/message-type.js';
import { QUEUE_FAMILY, QUEUE_OR_FAMILY_RULE } from '../message/queue-family.js';
import { QUEUE_NAME } from '../message/queue-name.js';
import { showGiven } from '../message/show-given.js';
import { readHandlerOptions, type ReadHandlerOptions, readQueueHandlerOptions } from '../options/resolve-options.js';
import type { HandlerDeclaration } from './delayed-handler-decorator.js';

/** What a declaration means. */
export interface HandlerTarget extends ReadHandlerOptions {
  readonly queue: string;
  readonly definition?: QueueDefinition;
  /** Empty: every message without a handler of its own type. */
  readonly type: string;
  readonly check?: PayloadCheck | undefined;
}

/**
 * @param place - where it stands, for errors
 * @throws DelayQueueError `INVALID_HANDLER`, `INVALID_OPTION`
 */
export function readDeclaration(declaration: HandlerDeclaration, place: string): HandlerTarget {
  const definition = definitionOf(declaration.queue);
  return definition ? ofTypedQueue(definition, declaration, place) : ofName(declaration, place);
}

function ofName({ queue, type, options }: HandlerDeclaration, place: string): HandlerTarget {
  if (typeof queue !== 'string' || !(QUEUE_NAME.test(queue) || QUEUE_FAMILY.test(queue))) {
    const problem = `${QUEUE_OR_FAMILY_RULE}, not ${showGiven(queue)}${adviceOn(queue)}`;
    throw new DelayQueueError('INVALID_HANDLER', `${place}: ${problem}`);
  }
  if (type === undefined) {
    return { queue, type: NO_TYPE, ...readQueueHandlerOptions(options, place) };
  }
  if (!isMessageType(type)) {
    throw new DelayQueueError('INVALID_HANDLER', `${place}: ${MESSAGE_TYPE_RULE}, not ${showGiven(type)}`);
  }
  return { queue, type, ...readHandlerOptions(options, place) };
}

function adviceOn(queue: unknown): string {
  if (typeof queue === 'function') return ', and this class is none that DelayQueue() made';
  return queue === '*' ? ': it would also take the messages of other applications' : '';
}

function ofTypedQueue(definition: QueueDefinition, declaration: HandlerDeclaration, place: string): HandlerTarget {
  const { queue } = definition;
  const { type = NO_TYPE, options } = declaration;
  const types = typesOf(definition) ?? [NO_TYPE];
  if (!types.includes(type)) {
    const advice = typesOf(definition) ? `name one of its types: ${types.join(', ')}` : 'its messages have no type';
    const given = type === NO_TYPE ? 'none' : showGiven(type);
    throw new DelayQueueError('INVALID_HANDLER', `${place}: queue '${queue}': ${advice}; given: ${given}`);
  }
  const read = readHandlerOptions(options, place);
  const instance = instanceOfQueue(definition, read.instance, place);
  return { queue, definition, type, check: checksOf(definition)(type), ...read, instance };
}
