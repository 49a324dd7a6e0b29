import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { DelayQueueError, type DelayQueueErrorCode } from '../message/delay-queue-errors.js';
import { showUnknownInstance, UNNAMED } from '../message/instance-name.js';

/** The name of the instance that a provider belongs to. */
export const INSTANCE = Symbol('nestjs-delay-queue:instance');

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
    const known = this.modules.get<string>(INSTANCE, { strict: false, each: true });
    if (known.includes(name)) return false;
    throw new DelayQueueError(error.code, `${error.place}: instance: ${showUnknownInstance(name, known)}`);
  }
}
