import { type CanActivate, type ExecutionContext, ForbiddenException, HttpStatus, Injectable } from '@nestjs/common';
import type { Request, RequestHandler } from 'express';
import { refuse } from './refuse.js';

const READS = ['GET', 'HEAD', 'OPTIONS'];
const OWN_SITES = ['same-origin', 'none'];
const REFUSAL = 'The shop accepts no changes from a page of another site';

/**
 * Refuses changes requested by a page of another origin: browsers send a simple POST anywhere, but say which page it comes
 * from. Clients that are not browsers say nothing, and may pass.
 */
export const sameOriginOnly: RequestHandler = ({ method, headers }, response, next) => {
  if (READS.includes(method) || isOwn(headers)) return next();
  refuse(response, HttpStatus.FORBIDDEN, REFUSAL);
};

/**
 * The same for a change that one may request by GET. It is a guard, because only the router knows which spellings of an address
 * mean its handler. What a browser fetches in case somebody goes there is refused: nobody has asked for it yet.
 */
@Injectable()
export class OwnSiteGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<Request>();
    if (isOwn(headers) && headers['sec-purpose'] === undefined) return true;
    throw new ForbiddenException(REFUSAL);
  }
}

/**
 * Browsers name the site of a page only to addresses that they trust, such as localhost, and the origin only with a change; then
 * the page that links here is all there is to see.
 */
function isOwn({ host, ...headers }: Record<string, string | string[] | undefined>): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && !OWN_SITES.includes(String(site))) return false;
  const origin = headers.origin ?? headers.referer;
  if (origin === undefined) return true;
  // Hosts are compared, not schemes: a proxy in front of the shop may speak TLS.
  return URL.canParse(String(origin)) && new URL(String(origin)).host === String(host).toLowerCase();
}
