import { HttpStatus } from '@nestjs/common';
import type { RequestHandler } from 'express';
import { refuse } from './refuse.js';

const READS = ['GET', 'HEAD', 'OPTIONS'];
const OWN_SITES = ['same-origin', 'none'];

/**
 * Refuses changes that a page of another origin asks for: a browser sends a simple POST anywhere, and says from where.
 * What is no browser says nothing and may pass.
 */
export const sameOriginOnly: RequestHandler = ({ method, headers }, response, next) => {
  if (READS.includes(method) || isOwn(headers)) return next();
  refuse(response, HttpStatus.FORBIDDEN, 'The shop takes no orders from the page of another site');
};

function isOwn({ origin, host, ...headers }: Record<string, string | string[] | undefined>): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && !OWN_SITES.includes(String(site))) return false;
  if (origin === undefined) return true;
  // Hosts are compared, not schemes: a proxy in front of the shop may speak TLS.
  return URL.canParse(String(origin)) && new URL(String(origin)).host === String(host).toLowerCase();
}
