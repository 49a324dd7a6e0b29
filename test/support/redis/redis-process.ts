import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../until.js';
import { LastWill } from './last-will.js';
import { onRandomPort, PortInUseError } from './random-port.js';
import { IN_MEMORY, type TestRedis, type TestRedisOptions } from './test-redis.js';

const START_TIMEOUT = 20_000;

/** The last words of a start: of a server, and of a sentinel. */
const READY = /Ready to accept connections|Sentinel ID is/;

/** How to run a server of this machine. */
export interface RedisBinary {
  readonly kind: 'binary';
  readonly path: string;
  /** The name it is called by, which is how the binary knows its role. */
  readonly name: string;
}

/** Starts a server as a child process, on the loopback interface. */
export async function startProcess(binary: RedisBinary, options: TestRedisOptions): Promise<TestRedis> {
  const start = async (port: number) => {
    const server = new RedisProcess(binary, port, options);
    await server.start();
    return server;
  };
  return options.port === undefined ? onRandomPort(start) : start(options.port);
}

class RedisProcess implements TestRedis {
  readonly host = '127.0.0.1';
  readonly url: string;
  readonly #folder: string;
  readonly #lastWill: LastWill;
  #child: ChildProcess | undefined;

  constructor(
    private readonly binary: RedisBinary,
    readonly port: number,
    private readonly options: TestRedisOptions,
  ) {
    this.url = `redis://${this.host}:${port}`;
    this.#folder = options.dir ?? mkdtempSync(join(tmpdir(), 'test-redis-'));
    this.#lastWill = new LastWill(options.dir === undefined ? this.#folder : null);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(): Promise<void> {
    mkdirSync(this.#folder, { recursive: true });
    const { config } = this.options;
    if (config !== undefined && !existsSync(this.#configFile)) writeFileSync(this.#configFile, config);
    const logFile = join(this.#folder, 'server.log');
    const log = openSync(logFile, 'w');
    const child = spawn(this.binary.path, this.#arguments(), {
      argv0: this.binary.name,
      env: { ...process.env, ...this.options.env },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    child.unref();
    this.#child = child;
    try {
      await once(child, 'spawn');
      this.#lastWill.name(child.pid ?? null);
      await untilReady(child, logFile);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async kill9(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async restart(): Promise<void> {
    await this.#end('SIGTERM');
    await this.start();
  }

  freeze(): Promise<void> {
    this.#child?.kill('SIGSTOP');
    return Promise.resolve();
  }

  thaw(): Promise<void> {
    this.#child?.kill('SIGCONT');
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    await this.#end('SIGKILL');
    await this.#lastWill.execute();
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    if (child.exitCode === null && child.signalCode === null) {
      const exit = once(child, 'exit');
      child.ref();
      child.kill(signal);
      child.kill('SIGCONT');
      await exit;
    }
    this.#child = undefined;
    this.#lastWill.name(null);
  }

  get #configFile(): string {
    return join(this.#folder, 'server.conf');
  }

  #arguments(): string[] {
    const { host, port } = this;
    const config = this.options.config === undefined ? [] : [this.#configFile];
    const own = ['--bind', host, '--port', String(port), '--dir', this.#folder, '--logfile', '', '--daemonize', 'no'];
    return [...config, ...own, ...IN_MEMORY, ...WITHOUT_FUNCTIONS, ...(this.options.args ?? [])];
  }
}

/** With `REDIS_WITHOUT=functions`, users may neither load nor call functions: so whole suites show that scripts do the same. */
const WITHOUT_FUNCTIONS =
  process.env.REDIS_WITHOUT === 'functions'
    ? ['--user', ...'default on nopass ~* &* +@all -fcall -fcall_ro -function'.split(' ')]
    : [];

/** Waits for the server's own word: an answer on its port could come from another server that took it first. */
async function untilReady(child: ChildProcess, logFile: string): Promise<void> {
  const log = () => readFileSync(logFile, 'utf8');
  const isReady = () => READY.test(log());
  const end = () => child.exitCode ?? child.signalCode;
  await until(() => isReady() || end() !== null, { within: START_TIMEOUT }).catch(() => undefined);
  if (isReady()) return;
  if (log().includes('Address already in use')) throw new PortInUseError(log());
  throw new Error(`The Redis server ${end() === null ? 'is not ready in time' : `ended (${end()})`}:\n${log()}`);
}
