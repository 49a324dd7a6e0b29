import type { DelayQueueError, DelayQueueErrorCode } from 'nestjs-delay-queue';

/** The answer to a click on the board that cannot be carried out. The board shows the message, which says what to do instead. */
export class BoardError extends Error {
  /** The error's name in logs. */
  override readonly name = 'BoardError';

  /**
   * @param statusCode - the status of the response: 400 if a delay queue cannot do this at all, 409 if it cannot do it any more
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

/** A feature of the board that a delay queue does not have. */
export function unsupported(message: string): BoardError {
  return new BoardError(400, message);
}

/** A change that came too late: the message has changed its state, or is gone. */
export function tooLate(id: string, message: string): BoardError {
  return new BoardError(409, `Message '${id}' ${message}`);
}

/** Errors with which the producer refuses what a form asks for. */
const REFUSALS: Readonly<Record<string, 400 | 409>> = {
  INVALID_ARGUMENT: 400,
  INVALID_PAYLOAD: 400,
  PAYLOAD_TOO_LARGE: 400,
  UNSUPPORTED_BY_LAYOUT: 400,
  DUPLICATE_MESSAGE: 409,
  QUEUE_FULL: 409,
} satisfies Partial<Record<DelayQueueErrorCode, 400 | 409>>;

/** Makes an error of the producer an answer to the board; returns any other error as it is. */
export function asAnswer(error: unknown): unknown {
  const { code, message } = error as Partial<DelayQueueError>;
  const status = code && REFUSALS[code];
  // The form adds one message, so an index would confuse.
  return status ? new BoardError(status, message!.replace(/^messages\[0\]: /, '')) : error;
}
