import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { DelayQueueError, type DelayQueueErrorCode } from '../message/delay-queue-errors.js';
import { showUnknownInstance, UNNAMED } from '../message/instance-name.js';

/** The token for the name of an instance. All copies of the package share it, so they find one another's instances. */
export const INSTANCE = Symbol.for('nestjs-delay-queue:instance');

@Injectable()
export class InstanceNames {
  constructor(
    @Inject(INSTANCE) private readonly own: string,
    private readonly modules: ModuleRef,
  ) {}

  /**
   * True if a declaration is meant for this instance.
   * @param given - the name in the declaration; undefined for the instance without a name
   * @param error - thrown if there is no such instance
   */
  isOwn(given: string | undefined, error: { readonly code: DelayQueueErrorCode; readonly place: string }): boolean {
    const name = given ?? UNNAMED;
    if (name === this.own) return true;
    const known = instanceNames(this.modules);
    if (known.includes(name)) return false;
    throw new DelayQueueError(error.code, `${error.place}: instance: ${showUnknownInstance(name, known)}`);
  }
}

/** Returns the names of all instances of an application, whichever copy of the package made them. Nest throws if there are none. */
export function instanceNames(app: Pick<ModuleRef, 'get'>): string[] {
  return app.get<string>(INSTANCE, { strict: false, each: true });
}
