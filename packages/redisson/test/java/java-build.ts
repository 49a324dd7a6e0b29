import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** A Redisson of each entry format; the profiles of `peer/pom.xml` pin the versions. */
export const REDISSON_LINES = ['3.20', '4'] as const;
/** Whose codecs are tested: five years of Redisson, with four versions of Kryo and five of Jackson. */
export const CODEC_LINES = ['3.16', '3.20', '3.27', '3.52', '4'] as const;
export type RedissonLine = (typeof CODEC_LINES)[number];

const PROJECT = fileURLToPath(new URL('./peer', import.meta.url));
const TARGET = join(PROJECT, 'target');
/** The first build downloads what Maven needs. */
const BUILD_TIMEOUT = 600_000;

/** Returns the reason why Java cannot run here, or undefined. */
export function missingJava(): string | undefined {
  const missing = ['javac', 'mvn'].filter((tool) => spawnSync(tool, ['-version'], { stdio: 'ignore' }).status !== 0);
  if (missing.length === 0) return undefined;
  return `${missing.join(' and ')} not found; install a JDK ≥ 17 and Maven.`;
}

/** The exact version that a line stands for. */
export function redissonVersion(line: RedissonLine): string {
  const [, version] = new RegExp(`<id>redisson-${line}</id>.*?<redisson.version>(.*?)<`, 's').exec(
    readFileSync(join(PROJECT, 'pom.xml'), 'utf8'),
  )!;
  return version!;
}

/**
 * Builds the peer, unless that was done since its sources changed.
 *
 * @returns its class path
 */
export async function buildPeer(line: RedissonLine): Promise<string> {
  const output = join(TARGET, `${line}-${digestOfSources()}`);
  if (!existsSync(output)) await build(line, output);
  return [join(output, 'classes'), join(output, 'lib', '*')].join(delimiter);
}

/** Into a folder of its own, which then gets its name: nobody sees a half-done build, and two at once do not meet. */
async function build(line: RedissonLine, output: string): Promise<void> {
  const unfinished = `${output}.${process.pid}`;
  mkdirSync(TARGET, { recursive: true });
  const args = ['-B', '-q', `-Predisson-${line}`, `-Doutput=${unfinished}`, 'compile'];
  try {
    await promisify(execFile)('mvn', args, { cwd: PROJECT, timeout: BUILD_TIMEOUT });
    renameSync(unfinished, output);
  } catch (cause) {
    rmSync(unfinished, { recursive: true, force: true });
    if (existsSync(output)) return;
    const { stdout } = cause as { stdout?: string };
    throw new Error(`The Java peer was not built:\n${stdout ?? ''}`, { cause });
  }
}

function digestOfSources(): string {
  const files = readdirSync(join(PROJECT, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const digest = createHash('sha256');
  for (const file of [join(PROJECT, 'pom.xml'), ...files].sort()) digest.update(file).update(readFileSync(file));
  return digest.digest('hex').slice(0, 12);
}
