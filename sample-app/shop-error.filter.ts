import { type ArgumentsHost, Catch, HttpException, HttpStatus, ServiceUnavailableException } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { DelayQueueError, type DelayQueueErrorCode } from 'nestjs-delay-queue';

const STATUS: Partial<Record<DelayQueueErrorCode, HttpStatus>> = {
  INVALID_ARGUMENT: HttpStatus.BAD_REQUEST,
  INVALID_PAYLOAD: HttpStatus.BAD_REQUEST,
  PAYLOAD_TOO_LARGE: HttpStatus.PAYLOAD_TOO_LARGE,
  QUEUE_FULL: HttpStatus.TOO_MANY_REQUESTS,
};

/** Says whose fault it was: 4xx if it was the request, 503 if it was Redis. */
@Catch()
export class ShopErrorFilter extends BaseExceptionFilter {
  override catch(error: unknown, host: ArgumentsHost): void {
    super.catch(toHttp(error), host);
  }
}

function toHttp(error: unknown): unknown {
  if (error instanceof DelayQueueError) {
    // The queue's own message says what to do.
    const { code, message } = error;
    const statusCode = STATUS[code] ?? HttpStatus.SERVICE_UNAVAILABLE;
    return new HttpException({ statusCode, code, message }, statusCode, { cause: error });
  }
  if (error instanceof Error && isUnreachable(error)) {
    return new ServiceUnavailableException('The shop cannot reach its Redis; try again later', { cause: error });
  }
  return error;
}

/** Whether ioredis had no connection, or got no answer in time. */
function isUnreachable({ name, message }: Error): boolean {
  return name === 'MaxRetriesPerRequestError' || message === 'Command timed out';
}
