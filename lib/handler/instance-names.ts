import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { DelayQueueError, type DelayQueueErrorCode } from '../message/delay-queue-errors.js';
import { showUnknownInstance, UNNAMED } from '../message/instance-name.js';

/** The name of a provider's instance. All copies of the package share the token, so they find each other's instances. */
export const INSTANCE = Symbol.for('nestjs-delay-queue:instance');

@Injectable()
export class InstanceNames {
  constructor(
    @Inject(INSTANCE) private readonly own: string,
    private readonly modules: ModuleRef,
  ) {}

  /**
   * True if a declaration is for this instance.
   * @param given - undefined: the instance without a name
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

/** The names of all instances of an application, from any copy of the package. Nest throws if there is none. */
export function instanceNames(app: Pick<ModuleRef, 'get'>): string[] {
  return app.get<string>(INSTANCE, { strict: false, each: true });
}
