import { HttpStatus } from '@nestjs/common';
import type { RequestHandler } from 'express';
import { refuse } from './refuse.js';

const READS = ['GET', 'HEAD', 'OPTIONS'];
const OWN_SITES = ['same-origin', 'none'];

/**
 * Refuses changes requested by a page of another origin: browsers send a simple POST anywhere, but say which page it comes
 * from. Clients that are not browsers say nothing, and may pass.
 */
export const sameOriginOnly: RequestHandler = ({ method, headers }, response, next) => {
  if (READS.includes(method) || isOwn(headers)) return next();
  refuse(response, HttpStatus.FORBIDDEN, 'The shop accepts no changes from a page of another site');
};

function isOwn({ origin, host, ...headers }: Record<string, string | string[] | undefined>): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && !OWN_SITES.includes(String(site))) return false;
  if (origin === undefined) return true;
  // Hosts are compared, not schemes: a proxy in front of the shop may speak TLS.
  return URL.canParse(String(origin)) && new URL(String(origin)).host === String(host).toLowerCase();
}
