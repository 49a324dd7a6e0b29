/** Why the shop cannot start, in words that need no stack trace. */
export class StartError extends Error {}
