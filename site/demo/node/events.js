export * from 'events/';
export { default } from 'events/';
