import { arch, platform } from 'node:os';
import { Application } from './application.js';

/** The lowest versions in `engines`, and the newer lines. */
export const NODE_VERSIONS = ['20.19.0', '22.12.0', '24', '26'] as const;

/** Releases of Node.js, which npm has for many platforms. */
export class NodeVersions {
  readonly #apps = new Map<string, Application>();

  static async fetch(versions: readonly string[] = NODE_VERSIONS): Promise<NodeVersions> {
    const nodes = new NodeVersions();
    for (const version of versions) await nodes.#fetch(version);
    return nodes;
  }

  /** The path of the binary, or undefined, after a warning, if it is not available here. */
  binary(version: string): string | undefined {
    return this.#apps.get(version)?.path('node_modules', 'node', 'bin', 'node');
  }

  async #fetch(version: string): Promise<void> {
    const app = await Application.create();
    try {
      await app.write('package.json', { private: true });
      await app.install(`node@npm:node-${platform()}-${arch()}@${version}`);
      this.#apps.set(version, app);
    } catch (error) {
      // Written to stderr, because jest would add a stack trace.
      process.stderr.write(`Node.js ${version} is not available here and NOT TESTED: ${String(error)}\n`);
    }
  }
}
