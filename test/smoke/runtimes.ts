import { arch, platform } from 'node:os';

/** A runtime besides Node.js, which npm has for many platforms. */
export interface Runtime {
  readonly name: string;
  readonly package: string;
  readonly version: string;
  /** The path of the binary in the package. */
  readonly binary: string;
  /** Arguments before the program. */
  readonly args: readonly string[];
}

export const RUNTIMES: readonly Runtime[] = [
  {
    name: 'Bun',
    package: `@oven/bun-${platform()}-${arch() === 'arm64' ? 'aarch64' : arch()}`,
    version: '1',
    binary: 'bin/bun',
    args: [],
  },
  {
    name: 'Deno',
    package: `@deno/${platform()}-${arch()}${platform() === 'linux' ? '-glibc' : ''}`,
    version: '2',
    binary: 'deno',
    args: ['run', '--allow-all'],
  },
];
