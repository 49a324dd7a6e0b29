import { type DefinedBy, definitionOf, typesOf } from '../options/queue-definition.js';
import { UNNAMED } from '../message/instance-name.js';
import { assertQueueName } from '../message/queue-name.js';
import type { HandleOptions } from './handle-options.js';

/** A queue by its name, or by the class of a typed queue. */
export type QueueArgument = string | DefinedBy<unknown>;

/** The arguments of `handle()` after the queue: a payload and options, preceded by a type if the queue's class has types. */
export type HandleArguments = readonly unknown[];

/** Returns the payload and the options. The type is among the options, as for a queue given by name. */
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
 * Reads a queue argument. Throws `INVALID_ARGUMENT`.
 * @param instance - the instance of a queue given by name; a class names its own instance
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
