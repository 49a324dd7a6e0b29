import type { ModulesContainer } from '@nestjs/core';
import type { DefinedBy, DelayQueueProducer, MessageChange } from 'nestjs-delay-queue';
import { invalidOption } from './options.js';
import { Workloads } from './workload.js';

/** The name of the instance without a name, in URLs and options. */
export const UNNAMED = '-';

/** The part of a typed queue that checks a change. */
export interface TypedQueueHandle {
  reschedule(id: string, due: Date | number, change?: MessageChange): Promise<boolean>;
}

/** An instance on the board. */
export interface BoardInstance {
  readonly name: string;
  readonly producer: DelayQueueProducer;
  /** The typed queues that the application injects, by their queues' names. */
  readonly typed: ReadonlyMap<string, TypedQueueHandle>;
  /** Who handles which queues, and how fast. */
  readonly workload: Workloads;
}

/**
 * Finds the application's instances and typed queues. They are recognized by their form: the application may use another copy of the library.
 * @throws DelayQueueError `INVALID_OPTION` if a wanted instance does not exist
 */
export function findInstances(
  modules: ModulesContainer,
  wanted: readonly string[] | undefined,
): ReadonlyMap<string, BoardInstance> {
  const providers = [...modules.values()].flatMap((module) => [...module.providers.values()]);
  const values = new Set(providers.map((provider) => provider.instance));
  const found = new Map<string, BoardInstance>();
  for (const value of values) {
    if (!isProducer(value)) continue;
    const name = value.instance ?? UNNAMED;
    if (found.has(name)) {
      throw invalidOption('forRoot()', "the instance '-' has the board's name for the one without a name: rename it");
    }
    const typed = new Map<string, TypedQueueHandle>();
    for (const other of values) {
      const definition = definitionOf(other);
      if (definition && definition.instance === value.instance) typed.set(definition.queue, other as TypedQueueHandle);
    }
    found.set(name, { name, producer: value, typed, workload: new Workloads(value) });
  }
  const names = [...found.keys()].sort().join(', ') || 'none';
  if (found.size === 0)
    throw invalidOption('forRoot()', 'the application imports no DelayQueueModule: import it beside');
  if (!wanted) return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
  return new Map(
    wanted.map((name) => {
      const instance = found.get(name);
      if (!instance) {
        throw invalidOption('forRoot()', `instances: there is no instance '${name}'; the application's are ${names}`);
      }
      return [name, instance];
    }),
  );
}

function isProducer(value: unknown): value is DelayQueueProducer {
  if (typeof value !== 'object' || value === null || definitionOf(value)) return false;
  const { offerAt, queues, deadLetters } = value as Partial<DelayQueueProducer>;
  return [offerAt, queues, deadLetters].every((method) => typeof method === 'function');
}

function definitionOf(value: unknown): DefinedBy<unknown>['definition'] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { definition } = value.constructor as Partial<DefinedBy<unknown>>;
  const { reschedule } = value as Partial<TypedQueueHandle>;
  return typeof definition?.queue === 'string' && typeof reschedule === 'function' ? definition : undefined;
}
