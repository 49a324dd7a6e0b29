import { HttpStatus } from '@nestjs/common';
import type { RequestHandler } from 'express';
import { refuse } from './refuse.js';

/** The names of this machine; browsers ask no name server for them. */
const LOOPBACK = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Accepts requests that are addressed to this machine, or to a name that the environment allows. With DNS rebinding, a foreign
 * page can point its own name at 127.0.0.1 and then has the same origin as the shop: only the name gives it away.
 */
export function allowedHostsOnly(allowed: readonly string[]): RequestHandler {
  return ({ headers: { host = '' } }, response, next) => {
    const name = hostName(host);
    if (name !== null && (LOOPBACK.test(name) || allowed.includes(name))) return next();
    const advice = name === null ? '' : `; to allow this name, start it with ALLOWED_HOSTS=${name}`;
    refuse(
      response,
      HttpStatus.MISDIRECTED,
      `The shop only answers to names of this machine, such as localhost${advice}`,
    );
  };
}

/** Without the port, in lower case; null if a Host header does not name a host. */
function hostName(host: string): string | null {
  const url = `http://${host}`;
  return URL.canParse(url) ? new URL(url).hostname : null;
}
