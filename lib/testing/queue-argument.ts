import { type DefinedBy, definitionOf, typesOf } from '../handler/definition/queue-definition.js';
import { UNNAMED } from '../message/instance-name.js';
import { assertQueueName } from '../message/queue-name.js';
import type { HandleOptions } from './handle-options.js';

/** What names a queue to the tester: its name, or the class of a typed queue. */
export type QueueArgument = string | DefinedBy<unknown>;

/** What follows the queue in a call of `handle()`: a payload and options, after a type where the class of the queue has types. */
export type HandleArguments = readonly unknown[];

/** Puts the type where it is with the name of a queue: among the options. */
export function readHandleArguments(
  queue: QueueArgument,
  given: HandleArguments,
): { payload: unknown; options: HandleOptions } {
  const definition = definitionOf(queue);
  if (!definition || !typesOf(definition)) {
    const [payload, options = {}] = given as [unknown, HandleOptions?];
    return { payload, options };
  }
  const [type, payload, options = {}] = given as [string, unknown, HandleOptions?];
  return { payload, options: { ...options, type } };
}

/**
 * The only place that reads it.
 *
 * @param instance - of a queue that is given by its name; a class says itself
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function readQueue(
  queue: QueueArgument,
  instance: string,
): { readonly name: string; readonly instance: string } {
  const definition = definitionOf(queue);
  const name = definition?.queue ?? queue;
  assertQueueName(name);
  return { name, instance: definition ? (definition.instance ?? UNNAMED) : instance };
}
