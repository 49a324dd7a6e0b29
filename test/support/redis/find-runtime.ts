import { canInstallPackages, installRedisPackage } from './debian-package.js';
import { findBinary } from './find-binary.js';
import type { RedisImage } from './redis-container.js';
import type { RedisBinary } from './redis-process.js';

/** How servers are run here. */
export type RedisRuntime = RedisBinary | RedisImage;

const IMAGE = 'redis:7.2-alpine';

const NOTHING_FOUND = [
  'No Redis server can be started here. Do one of:',
  '- install Redis or Valkey, so that redis-server or valkey-server is on the PATH;',
  '- start Docker, or another container engine that testcontainers finds;',
  '- run as root on Debian or Ubuntu: the tests then install the package redis-tools.',
  'REDIS_URL=redis://host:port alone is enough for the tests that need no server of their own.',
  'Those of single parts need none: npm run test:unit.',
].join('\n');

/** A binary on the PATH, else a container engine, else Debian's package. */
export async function findRuntime(): Promise<RedisRuntime> {
  const installed = findBinary();
  if (installed) return installed;
  // Loaded only where it is needed: it takes half a second.
  const { prepareImage } = await import('./redis-container.js');
  const image = await prepareImage(IMAGE);
  if (image) return image;
  if (!canInstallPackages()) throw new Error(NOTHING_FOUND);
  try {
    installRedisPackage();
  } catch (error) {
    throw new Error(`${NOTHING_FOUND}\n${String(error)}`, { cause: error });
  }
  const fresh = findBinary();
  if (!fresh) throw new Error(NOTHING_FOUND);
  return fresh;
}
