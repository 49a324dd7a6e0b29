/** The module options with every default filled in. */
export const RESOLVED_OPTIONS = Symbol('nestjs-delay-queue:options');
/** The `Stores` of this process. */
export const STORES = Symbol('nestjs-delay-queue:stores');
/** The `Clock` of this process. */
export const CLOCK = Symbol('nestjs-delay-queue:clock');
