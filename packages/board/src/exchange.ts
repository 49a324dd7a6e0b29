import type { IncomingMessage, ServerResponse } from 'node:http';
import { badRequest, Problem } from './problem.js';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/** A request to the board and its answer, whichever framework serves them. */
export interface Exchange {
  /** The framework's request and response, as guards and the application's functions see them. */
  readonly request: object;
  readonly response: object;
  readonly raw: IncomingMessage;
  /** The path below the board's own, as sent: `''` for the board's path itself, otherwise with a leading `/`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** True if the request's own protocol is HTTPS, and the host it was sent to; trusted proxies count as the framework is set up. */
  readonly isSecure: boolean;
  readonly host: string | undefined;
  /** True if a guard has answered. */
  readonly isAnswered: boolean;
  /** What a body parser of the application has made of the body, if it was there first. */
  readonly parsedBody: unknown;
  send(answer: Answer): void;
  /** Begins an answer without an end. */
  stream(headers: Readonly<Record<string, string>>): ServerResponse;
}

/** The headers by which an application with CORS would let other origins read the board. */
export const CORS_HEADERS = [
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-allow-methods',
  'access-control-allow-headers',
  'access-control-expose-headers',
  'access-control-max-age',
];

const MAX_BODY = 1024 * 1024;

/** Reads the body of a request as JSON; an empty one is `{}`. */
export async function readBody({ raw, parsedBody }: Exchange): Promise<unknown> {
  if (Number(raw.headers['content-length']) > MAX_BODY) throw tooLarge();
  // A body parser of the application has read it, and left nothing.
  if (raw.readableDidRead) return asJson(parsedBody ?? '');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of raw.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) throw tooLarge();
    chunks.push(chunk);
  }
  return asJson(Buffer.concat(chunks));
}

function asJson(body: unknown): unknown {
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) return body;
  const text = String(body);
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('The body is not JSON.');
  }
}

export function tooLarge(): Problem {
  return new Problem(413, 'BODY_TOO_LARGE', 'The body is larger than 1 MiB.');
}

/** Splits a URL into the path and the query. */
export function splitUrl(url: string): { path: string; query: URLSearchParams } {
  const at = url.indexOf('?');
  if (at === -1) return { path: url, query: new URLSearchParams() };
  return { path: url.slice(0, at), query: new URLSearchParams(url.slice(at + 1)) };
}
