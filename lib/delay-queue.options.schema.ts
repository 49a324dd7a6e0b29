export type { ResolvedModuleOptions } from './options/module-options.schema.js';
export type { ResolvedBackoff, ResolvedQueueOptions } from './options/queue-options.schema.js';
export * from './options/resolve-options.js';
