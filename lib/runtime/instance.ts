import { Inject, Injectable, type ValueProvider } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { Events } from '../events/events.js';
import { HandlerRegistry } from '../handler/handler-registry.js';
import { INSTANCE } from '../handler/instance-names.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { showUnknownInstance } from '../message/instance-name.js';
import type { ResolvedModuleOptions } from '../options/module-options-schema.js';
import type { Stores } from './create-stores.js';
import { RESOLVED_OPTIONS, STORES } from './delay-queue-tokens.js';
import { Queues } from './queues.js';

/** What one import of the module consists of, for what looks at it from outside. */
@Injectable()
export class Instance {
  constructor(
    /** Empty for the one without a name. */
    @Inject(INSTANCE) readonly name: string,
    @Inject(RESOLVED_OPTIONS) readonly options: ResolvedModuleOptions,
    @Inject(STORES) readonly stores: Stores,
    readonly events: Events,
    readonly handlers: HandlerRegistry,
    readonly queues: Queues,
  ) {}
}

/** Gives an instance its name. */
export function namedInstance(name: string): ValueProvider<string> {
  return { provide: INSTANCE, useValue: name };
}

/** All instances of an application. Nest throws if there is none. */
export function instancesOf(app: Pick<ModuleRef, 'get'>): Instance[] {
  return app.get(Instance, { strict: false, each: true });
}

/**
 * @param name - as it was read from what a user gave
 * @throws DelayQueueError `INVALID_OPTION` if there is no instance of this name
 */
export function findInstance(app: Pick<ModuleRef, 'get'>, name: string): Instance {
  const instances = instancesOf(app);
  const found = instances.find((instance) => instance.name === name);
  if (found) return found;
  const known = instances.map((instance) => instance.name);
  throw new DelayQueueError('INVALID_OPTION', `instance: ${showUnknownInstance(name, known)}`);
}
