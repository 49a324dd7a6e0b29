import type { DebianServer } from './debian-server.js';

/** The supported and tested servers. */
export const SERVERS: readonly DebianServer[] = [
  { name: 'Redis 7.0', release: 'bookworm', package: 'redis-tools' },
  { name: 'Redis 8.0', release: 'trixie', package: 'redis-tools' },
  { name: 'Redis 8.6', release: 'experimental', package: 'redis-tools' },
  { name: 'Valkey 8.1', release: 'trixie', package: 'valkey-tools' },
  { name: 'Valkey 9.1', release: 'sid', package: 'valkey-tools' },
];

/** Is not supported, and must be refused. */
export const TOO_OLD: DebianServer = { name: 'Redis 6.0', release: 'bullseye', package: 'redis-tools' };
