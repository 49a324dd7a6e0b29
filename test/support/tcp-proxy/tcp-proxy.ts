import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Drag } from './delay-line.js';
import {
  type ConnectionFilter,
  ErrorReply,
  type Fate,
  HeldReplies,
  HeldRequests,
  type Hold,
  LateRequests,
  type RequestFilter,
  type RequestRule,
  type Sighting,
  Watch,
} from './faults.js';
import { ProxiedConnection } from './proxied-connection.js';
import type { Request } from './request-parser.js';

const EVERY: ConnectionFilter = () => true;

/** Network faults of the connections to one or several servers. */
export type NetworkFaults = Pick<
  TcpProxy,
  'connections' | 'goDark' | 'slowDown' | 'limitBandwidth' | 'reset' | 'refuse' | 'deliverLate' | 'holdReplies' | 'stop'
>;

/**
 * Stands between clients and a Redis server, and does to their connections what networks do. Without being told anything, it
 * passes everything on.
 */
export class TcpProxy {
  readonly #server: Server;
  readonly #target: { readonly host: string; readonly port: number };
  readonly #connections = new Set<ProxiedConnection>();
  readonly #dark = new Set<ConnectionFilter>();
  readonly #drags = new Map<ConnectionFilter, Partial<Drag>>();
  readonly #rules: RequestRule[] = [];

  private constructor(target: string) {
    const { hostname, port } = new URL(target);
    this.#target = { host: hostname, port: Number(port) };
    this.#server = createServer((client) => this.#accept(client));
  }

  /** @param target - the URL of the server */
  static async start(target: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** The address of the server through this proxy. */
  get url(): string {
    const { host, port } = this.address;
    return `redis://${host}:${port}`;
  }

  get address(): { host: string; port: number } {
    return { host: '127.0.0.1', port: (this.#server.address() as AddressInfo).port };
  }

  /** Every connection so far of which one side is open, in the order of their opening. */
  get connections(): readonly ProxiedConnection[] {
    return [...this.#connections];
  }

  /**
   * Drops the bytes of connections both ways, and tells nobody. What went dark stays so; the returned function ends it for
   * others. A filter is asked with each command, so it also finds connections that are opened, or named, later.
   */
  goDark(which: ConnectionFilter = EVERY): () => void {
    this.#dark.add(which);
    return () => this.#dark.delete(which);
  }

  /** The same, but only for connections that are open now. */
  goDarkOnceFor(which: ConnectionFilter): ProxiedConnection[] {
    const chosen = this.connections.filter((connection) => connection.isOpen && which(connection));
    this.goDark((connection) => chosen.includes(connection));
    return chosen;
  }

  /** Delays all bytes, in each direction; the returned function ends it. */
  slowDown(delay: number, which: ConnectionFilter = EVERY): () => void {
    return this.#drag({ delay }, which);
  }

  /** Lets only so many bytes a second pass, on each connection and in each direction; the returned function ends it. */
  limitBandwidth(bandwidth: number, which: ConnectionFilter = EVERY): () => void {
    return this.#drag({ bandwidth }, which);
  }

  /** Resets connections (RST), both sides; returns how many. */
  reset(which: ConnectionFilter = EVERY): number {
    const chosen = this.connections.filter((connection) => connection.isOpen && which(connection));
    for (const connection of chosen) connection.reset();
    return chosen.length;
  }

  /** Counts commands. */
  watch(which: RequestFilter): Sighting {
    return this.obey(new Watch(which));
  }

  /** Answers the next commands of a kind with an error reply, without the server having carried them out. */
  refuse(which: RequestFilter, reply: string, times = 1): Sighting {
    return this.obey(new ErrorReply(which, reply, times));
  }

  /** Keeps commands from the server until they are released. */
  hold(which: RequestFilter): Hold {
    return this.obey(new HeldRequests(which));
  }

  /**
   * Resets the clients' ends of connections on which the next such commands come. The server gets each command when it is
   * released, with what the client had sent after it, as from a network that held them up; then its end is closed.
   */
  deliverLate(which: RequestFilter, times = 1): Hold {
    return this.obey(new LateRequests(which, times));
  }

  /** Lets commands reach the server, and keeps their answers until they are released. */
  holdReplies(which: RequestFilter): Hold {
    return this.obey(new HeldReplies(which));
  }

  /** Applies a rule, which may be that of several proxies, to all commands from now on. */
  obey<Rule extends RequestRule>(rule: Rule): Rule {
    this.#rules.push(rule);
    return rule;
  }

  /** Ends all connections, and accepts no others. */
  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const connection of this.#connections) connection.destroy();
    await closed;
  }

  #drag(drag: Partial<Drag>, which: ConnectionFilter): () => void {
    // A filter of its own, because the same one may be given twice.
    const own: ConnectionFilter = (connection) => which(connection);
    this.#drags.set(own, drag);
    return () => this.#drags.delete(own);
  }

  #accept(client: Socket): void {
    const server = connect(this.#target);
    const connection = new ProxiedConnection(client, server, this.#weather);
    this.#connections.add(connection);
    const forget = () => {
      if (client.destroyed && server.destroyed) this.#connections.delete(connection);
    };
    client.on('close', forget);
    server.on('close', forget);
  }

  readonly #weather = {
    isDark: (connection: ProxiedConnection): boolean => [...this.#dark].some((which) => which(connection)),
    dragOn: (connection: ProxiedConnection): Drag => {
      const drags = [...this.#drags].filter(([which]) => which(connection)).map(([, drag]) => drag);
      return {
        delay: Math.max(0, ...drags.map(({ delay = 0 }) => delay)),
        bandwidth: Math.min(...drags.map(({ bandwidth = Infinity }) => bandwidth)),
      };
    },
    judge: (request: Request, connection: ProxiedConnection): Fate => {
      for (const rule of this.#rules) {
        const fate = rule.judge(request, connection);
        if (fate) return fate;
      }
      return 'pass';
    },
  };
}
