/** All copies of the package share the key, so a listener is found whichever copy decorated it. */
const LISTENER = Symbol.for('nestjs-delay-queue:listener');

/**
 * Makes a provider an observer of the delay queue: its class implements methods of {@link DelayQueueObserver}. It must be a
 * singleton. Of several, the first that is found is the outermost; those of `forRoot({ observers })` wrap them all.
 *
 * @example
 * ```ts
 * @Injectable()
 * @DelayQueueListener()
 * class Audit implements DelayQueueObserver {
 *   event(event: DelayQueueEvent) {
 *     if (event.name === 'dead') console.log(`${event.queue}: ${event.id} is dead (${event.by})`);
 *   }
 * }
 * ```
 */
export function DelayQueueListener(): ClassDecorator {
  return (target) => Reflect.defineMetadata(LISTENER, true, target);
}

/** Of the class itself: one that extends it is decorated on its own. */
export function isListener(type: object): boolean {
  return Reflect.hasOwnMetadata(LISTENER, type);
}
