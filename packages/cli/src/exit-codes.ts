export const FINE = 0;
/** Something was refused, was not found, or failed. */
export const FAILED = 1;
/** The command, an argument or an option is wrong. Nothing was sent. */
export const WRONG_USAGE = 2;

/** The command could not do what was asked. The message says what to do. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** The command was called wrongly. The message says how to call it. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}
