import type { MessageUpkeep } from './message-upkeep.js';

/**
 * A queue seen as a whole, whatever its partitions. If it has several, each is looked at or changed at an instant of its own. A
 * change that fails may have happened in some of them; it can be repeated.
 */
export type WholeQueue = Pick<MessageUpkeep, 'status' | 'countTypes' | 'pause' | 'resume' | 'clear' | 'list'>;
