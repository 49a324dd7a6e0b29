import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ENVIRONMENT, TYPESCRIPT } from '../run-program.js';
import { until } from '../until.js';
import { BoardClient } from './board-client.js';

const PROGRAM = fileURLToPath(new URL('../../programs/board-application.program.ts', import.meta.url));

/** A Nest application with a board, in a process of its own: delayed is `welcome:ada`, dead is `bounce:bob`. */
export class BoardApplication extends BoardClient {
  #log = '';

  private constructor(
    url: string,
    private readonly child: ChildProcess,
  ) {
    super(url);
    child.stdout!.on('data', (data) => (this.#log += String(data)));
  }

  /** The output: a line for each handled message. */
  get handled(): readonly string[] {
    return this.#log.trimEnd().split('\n');
  }

  static async start(redisUrl: string, prefix: string): Promise<BoardApplication> {
    const child = spawn(process.execPath, [...TYPESCRIPT, PROGRAM, JSON.stringify([redisUrl, prefix])], {
      env: ENVIRONMENT,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    const listen = (data: Buffer) => void (output += data.toString());
    child.stdout.on('data', listen);
    const url = () => /^http:\S+/m.exec(output)?.[0];
    await until(() => url() ?? child.exitCode !== null, { within: 60_000 });
    child.stdout.off('data', listen);
    if (!url()) throw new Error(`The application did not start: ${output}`);
    return new BoardApplication(url()!, child);
  }

  async stop(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await exited;
  }
}
