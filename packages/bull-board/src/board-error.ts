/** An answer to a click on the board: what cannot be done, and what to do instead. The board shows the message. */
export class BoardError extends Error {
  /** The error's name in logs. */
  override readonly name = 'BoardError';

  /**
   * @param statusCode - the status of the response: 400, if a delay queue cannot do this at all; 409, if it cannot do it any more
   * @param message - for people
   */
  constructor(
    /** The status of the response. */
    readonly statusCode: 400 | 409,
    message: string,
  ) {
    super(message);
  }
}

/** Something of the board that a delay queue does not have. */
export function unsupported(message: string): BoardError {
  return new BoardError(400, message);
}

/** Something that came too late: the message has changed its state, or is gone. */
export function tooLate(id: string, message: string): BoardError {
  return new BoardError(409, `Message '${id}' ${message}`);
}
