import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT } from './packed-package.js';

const run = promisify(execFile);

// Far more than it needs, and an application that does not exit by itself is ended and fails.
const RUN_TIMEOUT = 20_000;

const TSCONFIG = {
  compilerOptions: {
    module: 'nodenext',
    target: 'es2022',
    types: ['node'],
    strict: true,
    // The declarations of the package are checked too, against those of its peers.
    skipLibCheck: false,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    rootDir: '.',
    outDir: 'dist',
  },
};

/** What an application brings along. */
export interface ConsumerOptions {
  readonly type: 'module' | 'commonjs';
  readonly dependencies: Readonly<Record<string, string>>;
}

/** An application in a folder of its own, with the package installed from its tarball. */
export class ConsumerApp {
  private constructor(private readonly folder: string) {}

  static async install(tarball: string, { type, dependencies }: ConsumerOptions): Promise<ConsumerApp> {
    const folder = await mkdtemp(join(tmpdir(), 'consumer-'));
    const manifest = {
      private: true,
      type,
      dependencies: { ...dependencies, 'nestjs-delay-queue': `file:${tarball}` },
    };
    await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
    await copyFile(join(import.meta.dirname, 'consumer.ts'), join(folder, 'consumer.ts'));
    await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder });
    return new ConsumerApp(folder);
  }

  /** Checks its types and compiles it. */
  async compile(): Promise<void> {
    await run(process.execPath, [join(PROJECT, 'node_modules/typescript/bin/tsc'), '-p', this.folder]).catch(
      (error: { stdout: string }) => {
        throw new Error(error.stdout);
      },
    );
  }

  /** Runs it to its end; returns what it says. */
  async run(environment: Readonly<Record<string, string>>): Promise<unknown> {
    const env = { ...process.env, ...environment };
    const { stdout } = await run(process.execPath, ['dist/consumer.js'], {
      cwd: this.folder,
      env,
      timeout: RUN_TIMEOUT,
    });
    return JSON.parse(stdout);
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true });
  }
}
