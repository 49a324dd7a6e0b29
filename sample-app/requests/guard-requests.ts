import type { NestExpressApplication } from '@nestjs/platform-express';
import { allowedHostsOnly } from './allowed-hosts.js';
import { jsonOnly, jsonReadable } from './json-body.js';
import { sameOriginOnly } from './same-origin.js';

/**
 * Checks who may send a request, and in which form, before anything else looks at it. The application must be created with
 * `bodyParser: false`, or it would read forms as well.
 */
export function guardRequests(app: NestExpressApplication, allowedHosts: readonly string[]): void {
  app.use(allowedHostsOnly(allowedHosts), sameOriginOnly, jsonOnly);
  app.useBodyParser('json', { limit: '10kb' });
  app.use(jsonReadable);
}
