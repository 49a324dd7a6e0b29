export * from './options/module-options.js';
export * from './options/queue-options.js';
