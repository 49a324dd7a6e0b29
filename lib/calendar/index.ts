export { next, type NextOptions } from './next.js';
