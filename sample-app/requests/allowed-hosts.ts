import { HttpStatus } from '@nestjs/common';
import type { RequestHandler } from 'express';
import { refuse } from './refuse.js';

/** The names of this very machine; a browser asks no name server for them. */
const LOOPBACK = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Lets pass what is addressed to this machine, or to a name that the environment allows. By DNS rebinding a foreign page
 * can make its own name mean 127.0.0.1, and would then be of the same origin as the shop: only the name tells.
 */
export function allowedHostsOnly(allowed: readonly string[]): RequestHandler {
  return ({ headers: { host = '' } }, response, next) => {
    const name = hostName(host);
    if (name !== null && (LOOPBACK.test(name) || allowed.includes(name))) return next();
    const advice = name === null ? '' : `; to let it answer to this name, start it with ALLOWED_HOSTS=${name}`;
    refuse(
      response,
      HttpStatus.MISDIRECTED,
      `The shop answers to the names of this machine, such as localhost${advice}`,
    );
  };
}

/** Without the port, in lower case; null if a Host header does not name a host. */
function hostName(host: string): string | null {
  const url = `http://${host}`;
  return URL.canParse(url) ? new URL(url).hostname : null;
}
