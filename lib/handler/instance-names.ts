import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { DelayQueueError, type DelayQueueErrorCode } from '../message/delay-queue-errors.js';
import { showUnknownInstance, UNNAMED } from '../message/instance-name.js';

/** The name of the instance that a provider belongs to. All copies of the package share it, so they find each other's instances. */
export const INSTANCE = Symbol.for('nestjs-delay-queue:instance');

/** The instances of the module in this application. */
@Injectable()
export class InstanceNames {
  constructor(
    @Inject(INSTANCE) private readonly own: string,
    private readonly modules: ModuleRef,
  ) {}

  /**
   * Whether a declaration is for this instance.
   *
   * @param given - what it names; undefined: the instance without a name
   * @param error - to throw if there is no such instance
   */
  isOwn(given: string | undefined, error: { readonly code: DelayQueueErrorCode; readonly place: string }): boolean {
    const name = given ?? UNNAMED;
    if (name === this.own) return true;
    const known = instanceNames(this.modules);
    if (known.includes(name)) return false;
    throw new DelayQueueError(error.code, `${error.place}: instance: ${showUnknownInstance(name, known)}`);
  }
}

/** The names of all instances of an application, whichever copy of the package they are of. Nest throws if there is none. */
export function instanceNames(app: Pick<ModuleRef, 'get'>): string[] {
  return app.get<string>(INSTANCE, { strict: false, each: true });
}
