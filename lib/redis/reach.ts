/**
 * What is known of the way to a server, without asking it: it answers (`ready`); it owes an answer for a second (`silent`); the
 * connection is being opened, for less than a second (`opening`); or there is none (`lost`).
 */
export type Reach = 'ready' | 'silent' | 'opening' | 'lost';
