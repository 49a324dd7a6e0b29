import { redisson } from '../../packages/redisson/src/index.js';

/** For the option `layout`, by the names that titles have. */
export const layouts = { native: 'native', redisson: redisson() } as const;

export type LayoutName = keyof typeof layouts;
