export { calendar } from './calendar.js';
export type { Calendar, RepeatRule } from '../message/repeat-rule.js';
export { next, type NextOptions } from './next.js';
