import { HttpStatus } from '@nestjs/common';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { refuse } from './refuse.js';

/** Refuses a body that is not said to be JSON: it would be left unread, and taken for none. */
export const jsonOnly: RequestHandler = (request, response, next) => {
  // False: another type, or none is named; null: there is no body.
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
  refuse(response, HttpStatus.BAD_REQUEST, 'The body must be a JSON object, and cannot be read as JSON');
};
