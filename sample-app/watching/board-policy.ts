import type { RequestHandler } from 'express';

const POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:";

/** Keeps the board's page from asking other hosts, such as a font server. */
export const boardPolicy: RequestHandler = (_request, response, next) => {
  response.setHeader('Content-Security-Policy', POLICY);
  next();
};
