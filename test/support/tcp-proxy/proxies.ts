import { afterEach } from '@jest/globals';
import type { Scene } from '../scene.js';
import { TcpProxy } from './tcp-proxy.js';

/** Starts proxies before a scene's Redis, and stops them after each test. Made after the scene, whose applications close first. */
export class Proxies {
  readonly #started: TcpProxy[] = [];

  constructor(private readonly scene: Scene) {
    afterEach(async () => {
      await Promise.all(this.#started.splice(0).map((proxy) => proxy.stop()));
    });
  }

  async start(): Promise<TcpProxy> {
    const proxy = await TcpProxy.start(this.scene.url);
    this.#started.push(proxy);
    return proxy;
  }
}
