import { resolve } from 'node:path';
import { StartError } from './start-error.js';

/** Settings from the environment. */
export interface Settings {
  readonly port: number;
  readonly redisUrl: string | undefined;
  /** Host names that the shop answers to, besides those of this machine. */
  readonly allowedHosts: readonly string[];
  /** Where the private Redis keeps its data. */
  readonly dataFolder: string;
}

export function readSettings(env: NodeJS.ProcessEnv): Settings {
  return {
    port: readPort(env.PORT || '3000'),
    redisUrl: env.REDIS_URL || undefined,
    allowedHosts: readNames(env.ALLOWED_HOSTS || ''),
    dataFolder: resolve(env.SAMPLE_DATA_DIR || '.data'),
  };
}

function readNames(text: string): string[] {
  const names = text.toLowerCase().split(',');
  return names.map((name) => name.trim()).filter((name) => name !== '');
}

function readPort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new StartError(`PORT is not a port number: ${text}`);
  return port;
}
