import { HttpException } from '@nestjs/common';
import { DelayQueueError, type DelayQueueErrorCode } from 'nestjs-delay-queue';
import type { BoardErrorCode } from './api.js';

/** An answer with a status of 400 or more. */
export class Problem extends Error {
  override readonly name = 'Problem';

  constructor(
    readonly status: number,
    readonly code: BoardErrorCode,
    message: string,
  ) {
    super(message);
  }
}

export const badRequest = (message: string) => new Problem(400, 'BAD_REQUEST', message);
export const notFound = (message: string) => new Problem(404, 'NOT_FOUND', message);

const ANSWERS: Readonly<Partial<Record<DelayQueueErrorCode, readonly [number, BoardErrorCode]>>> = {
  INVALID_ARGUMENT: [400, 'BAD_REQUEST'],
  INVALID_PAYLOAD: [400, 'BAD_REQUEST'],
  INVALID_OPTION: [400, 'UNSUPPORTED'],
  UNSUPPORTED_BY_LAYOUT: [400, 'UNSUPPORTED'],
  PAYLOAD_TOO_LARGE: [413, 'BODY_TOO_LARGE'],
  DUPLICATE_MESSAGE: [409, 'CONFLICT'],
  QUEUE_FULL: [409, 'CONFLICT'],
};

/** Returns the answer to a failure of the producer or of a guard; undefined if it is a bug, which must not be shown. */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  if (error instanceof DelayQueueError) {
    const [status, code] = ANSWERS[error.code] ?? [503, 'UNAVAILABLE'];
    return new Problem(status, code, error.message);
  }
  if (isHttpException(error)) {
    const status = error.getStatus();
    return new Problem(status, codeOf(status), error.message);
  }
  // What middleware and hooks of the application throw.
  const { statusCode, status } = error as { readonly statusCode?: unknown; readonly status?: unknown };
  const found = statusCode ?? status;
  if (error instanceof Error && typeof found === 'number' && found >= 400 && found < 500) {
    return new Problem(found, codeOf(found), error.message);
  }
  return undefined;
}

/** The application may have another copy of Nest. */
function isHttpException(error: unknown): error is HttpException {
  return error instanceof HttpException || typeof (error as Partial<HttpException> | null)?.getStatus === 'function';
}

function codeOf(status: number): BoardErrorCode {
  if (status === 401) return 'UNAUTHENTICATED';
  if (status === 404) return 'NOT_FOUND';
  if (status === 429) return 'TOO_MANY';
  return status >= 500 ? 'UNAVAILABLE' : 'FORBIDDEN';
}
