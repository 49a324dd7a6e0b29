import type { DelayQueueError, DelayQueueErrorCode } from 'nestjs-delay-queue';

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

/** What the producer refuses because of what the form says. */
const REFUSALS: Readonly<Record<string, 400 | 409>> = {
  INVALID_ARGUMENT: 400,
  INVALID_PAYLOAD: 400,
  PAYLOAD_TOO_LARGE: 400,
  UNSUPPORTED_BY_LAYOUT: 400,
  DUPLICATE_MESSAGE: 409,
  QUEUE_FULL: 409,
} satisfies Partial<Record<DelayQueueErrorCode, 400 | 409>>;

/** An error of the producer as an answer to the board; any other error as it is. */
export function asAnswer(error: unknown): unknown {
  const { code, message } = error as Partial<DelayQueueError>;
  const status = code && REFUSALS[code];
  // The form adds one message, and so needs no index.
  return status ? new BoardError(status, message!.replace(/^messages\[0\]: /, '')) : error;
}
