/** The module options with every default filled in. */
export const RESOLVED_OPTIONS = Symbol('nestjs-delay-queue:options');
/** Where the stores of all queues come from. */
export const STORES = Symbol('nestjs-delay-queue:stores');
/** The time of this process. */
export const CLOCK = Symbol('nestjs-delay-queue:clock');
