import {
  GenericContainer,
  getContainerRuntimeClient,
  ImageName,
  type StartedTestContainer,
  Wait,
} from 'testcontainers';
import { onRandomPort, PortInUseError } from './random-port.js';
import { IN_MEMORY, type TestRedis, type TestRedisOptions } from './test-redis.js';

const REDIS_PORT = 6379;

/** How to run a server in Docker. */
export interface RedisImage {
  readonly kind: 'image';
  readonly image: string;
}

/** Gets the image ready, if there is an engine that can. */
export async function prepareImage(image: string): Promise<RedisImage | undefined> {
  try {
    const client = await getContainerRuntimeClient();
    const name = ImageName.fromString(image);
    if (!(await client.image.exists(name))) await client.image.pull(name);
    return { kind: 'image', image };
  } catch {
    return undefined;
  }
}

/** Starts a server in a container, which testcontainers removes when this process ends. */
export async function startContainer({ image }: RedisImage, options: TestRedisOptions): Promise<TestRedis> {
  const start = async (port: number) => {
    const container = new GenericContainer(image)
      // A port chosen by the engine would change with each restart.
      .withExposedPorts({ container: REDIS_PORT, host: port })
      .withEnvironment({ ...options.env })
      .withCommand(['redis-server', ...IN_MEMORY, ...(options.args ?? [])])
      .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/));
    if (options.dir !== undefined) container.withBindMounts([{ source: options.dir, target: '/data' }]);
    try {
      return new RedisContainer(await container.start(), port);
    } catch (error) {
      if (/port is already allocated|address already in use/i.test(String(error))) {
        throw new PortInUseError(String(error), { cause: error });
      }
      throw error;
    }
  };
  return options.port === undefined ? onRandomPort(start) : start(options.port);
}

class RedisContainer implements TestRedis {
  readonly host: string;
  readonly url: string;
  readonly pid = undefined;

  constructor(
    private readonly container: StartedTestContainer,
    readonly port: number,
  ) {
    this.host = container.getHost();
    this.url = `redis://${this.host}:${port}`;
  }

  async kill9(): Promise<void> {
    await (await this.#handle()).kill();
  }

  async restart(): Promise<void> {
    // Starts a container that is down as well.
    await this.container.restart();
  }

  async freeze(): Promise<void> {
    await (await this.#handle()).pause();
  }

  async thaw(): Promise<void> {
    await (await this.#handle()).unpause();
  }

  async stop(): Promise<void> {
    await this.container.stop();
  }

  async #handle() {
    const { container } = await getContainerRuntimeClient();
    return container.getById(this.container.getId());
  }
}
