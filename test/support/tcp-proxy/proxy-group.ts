import {
  type ConnectionFilter,
  ErrorReply,
  HeldReplies,
  type Hold,
  LateRequests,
  type RequestFilter,
  type RequestRule,
  type Sighting,
} from './faults.js';
import type { ProxiedConnection } from './proxied-connection.js';
import type { NetworkFaults, TcpProxy } from './tcp-proxy.js';

/** Proxies before several servers, which do the same at the same time. What is counted, is counted for all of them together. */
export class ProxyGroup implements NetworkFaults {
  constructor(private readonly all: readonly TcpProxy[]) {}

  get connections(): readonly ProxiedConnection[] {
    return this.all.flatMap(({ connections }) => connections);
  }

  goDark(which?: ConnectionFilter): () => void {
    return this.#each((proxy) => proxy.goDark(which));
  }

  goDarkOnceFor(which: ConnectionFilter): ProxiedConnection[] {
    return this.all.flatMap((proxy) => proxy.goDarkOnceFor(which));
  }

  slowDown(delay: number, which?: ConnectionFilter): () => void {
    return this.#each((proxy) => proxy.slowDown(delay, which));
  }

  limitBandwidth(bandwidth: number, which?: ConnectionFilter): () => void {
    return this.#each((proxy) => proxy.limitBandwidth(bandwidth, which));
  }

  reset(which?: ConnectionFilter): number {
    return this.all.reduce((sum, proxy) => sum + proxy.reset(which), 0);
  }

  /** Counts the commands that each server gets. */
  watch(which: RequestFilter): Sighting[] {
    return this.all.map((proxy) => proxy.watch(which));
  }

  refuse(which: RequestFilter, reply: string, times = 1): Sighting {
    return this.#obey(new ErrorReply(which, reply, times));
  }

  deliverLate(which: RequestFilter, times = 1): Hold {
    return this.#obey(new LateRequests(which, times));
  }

  holdReplies(which: RequestFilter): Hold {
    return this.#obey(new HeldReplies(which));
  }

  async stop(): Promise<void> {
    await Promise.all(this.all.map((proxy) => proxy.stop()));
  }

  #each(begin: (proxy: TcpProxy) => () => void): () => void {
    const ends = this.all.map(begin);
    return () => ends.forEach((end) => end());
  }

  #obey<Rule extends RequestRule>(rule: Rule): Rule {
    for (const proxy of this.all) proxy.obey(rule);
    return rule;
  }
}
