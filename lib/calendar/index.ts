export { calendar } from './calendar.js';
export type { Calendar, CronTimes, RepeatRule } from '../message/repeat-rule.js';
export { next, type NextOptions } from './next.js';
