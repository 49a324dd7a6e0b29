import { HttpStatus } from '@nestjs/common';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { refuse } from './refuse.js';

/** Refuses a body that is not declared as JSON: it would not be read, and so count as missing. */
export const jsonOnly: RequestHandler = (request, response, next) => {
  // `is()` is false for another type or none, and null if there is no body.
  const isEmpty = request.headers['content-length'] === '0' || request.is('*/*') === null;
  if (isEmpty || request.is('json')) return next();
  refuse(
    response,
    HttpStatus.UNSUPPORTED_MEDIA_TYPE,
    'The body must be a JSON object, sent with Content-Type: application/json',
  );
};

/** Says what is wrong with a body that could not be read. */
export const jsonReadable: ErrorRequestHandler = (error: { readonly type?: string }, _request, response, next) => {
  if (error.type !== 'entity.parse.failed') return next(error);
  refuse(response, HttpStatus.BAD_REQUEST, 'The body must be a JSON object, but is not valid JSON');
};
