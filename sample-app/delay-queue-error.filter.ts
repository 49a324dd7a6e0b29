import { type ArgumentsHost, Catch, HttpException, HttpStatus } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { DelayQueueError, type DelayQueueErrorCode } from 'nestjs-delay-queue';

const STATUS: Partial<Record<DelayQueueErrorCode, HttpStatus>> = {
  INVALID_ARGUMENT: HttpStatus.BAD_REQUEST,
  INVALID_PAYLOAD: HttpStatus.BAD_REQUEST,
  PAYLOAD_TOO_LARGE: HttpStatus.PAYLOAD_TOO_LARGE,
};

/** Answers with the queue's own words, which say what to do: 400 when it was the request, 503 when it was Redis. */
@Catch(DelayQueueError)
export class DelayQueueErrorFilter extends BaseExceptionFilter {
  override catch(error: DelayQueueError, host: ArgumentsHost): void {
    const { code, message } = error;
    const statusCode = STATUS[code] ?? HttpStatus.SERVICE_UNAVAILABLE;
    super.catch(new HttpException({ statusCode, code, message }, statusCode, { cause: error }), host);
  }
}
