import type { NestExpressApplication } from '@nestjs/platform-express';
import { allowedHostsOnly } from './allowed-hosts.js';
import { jsonOnly, jsonReadable } from './json-body.js';
import { sameOriginOnly } from './same-origin.js';

/**
 * Before anything else looks at a request: who may ask, and in which form. The application must be made with
 * `bodyParser: false`, or forms would be read as well.
 */
export function guardRequests(app: NestExpressApplication, allowedHosts: readonly string[]): void {
  app.use(allowedHostsOnly(allowedHosts), sameOriginOnly, jsonOnly);
  app.useBodyParser('json', { limit: '10kb' });
  app.use(jsonReadable);
}
