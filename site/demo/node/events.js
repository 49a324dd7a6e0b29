export * from 'events/';
export { default } from 'events/';

/** Browsers warn of no number of listeners. */
export const setMaxListeners = () => undefined;
