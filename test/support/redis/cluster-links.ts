import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** The offset of the sender's name in the header of a message on the bus. */
const SENDER = [40, 80] as const;

/** The ports of one server of a cluster. */
export interface Ports {
  /** For clients and replicas. */
  readonly port: number;
  /** For the other servers. */
  readonly busPort: number;
}

interface Link {
  readonly ends: readonly [Socket, Socket];
  readonly to: string;
  /** The id of the server that opened it, once that is known; a replica does not tell. */
  from?: string;
  /** True if its bytes vanish. */
  isDark: boolean;
}

/**
 * All connections between the servers of a cluster: replication and the bus. The servers reach each other only through these
 * proxies, so that one of them can be cut off while its clients still reach it.
 */
export class ClusterLinks {
  readonly #links = new Set<Link>();
  readonly #isolated = new Set<string>();
  readonly #proxies: Server[] = [];
  readonly #ports = new Map<string, Ports>();

  /** @param places - the servers' ids and own ports */
  static async between(places: readonly (Ports & { readonly id: string })[]): Promise<ClusterLinks> {
    const links = new ClusterLinks();
    await Promise.all(
      places.map(async ({ id, port, busPort }) => {
        const [toPort, toBus] = await Promise.all([
          links.#listen((client) => links.#open(client, { to: id, port })),
          links.#listen((client) => links.#openOnceNamed(client, { to: id, port: busPort })),
        ]);
        links.#ports.set(id, { port: toPort, busPort: toBus });
      }),
    );
    return links;
  }

  /** The ports by which the others know a server. */
  portsOf(id: string): Ports {
    return this.#ports.get(id)!;
  }

  /** Cuts a server off from all others: bytes vanish both ways. The returned function ends it. */
  isolate(id: string): () => void {
    this.#isolated.add(id);
    for (const link of this.#links) link.isDark ||= this.#isCut(link);
    return () => {
      this.#isolated.delete(id);
      for (const link of this.#links) if (link.isDark && !this.#isCut(link)) link.ends.forEach((end) => end.destroy());
    };
  }

  stop(): void {
    for (const proxy of this.#proxies) proxy.close();
    for (const { ends } of this.#links) ends.forEach((end) => end.destroy());
  }

  async #listen(accept: (client: Socket) => void): Promise<number> {
    const proxy = createServer({ noDelay: true }, accept).listen(0, '127.0.0.1');
    this.#proxies.push(proxy);
    await once(proxy, 'listening');
    return (proxy.address() as AddressInfo).port;
  }

  #open(client: Socket, { to, port }: { to: string; port: number }): Link {
    const server = connect({ host: '127.0.0.1', port, noDelay: true });
    const link: Link = { ends: [client, server], to, isDark: this.#isolated.has(to) };
    this.#links.add(link);
    this.#pass(link, client, server);
    this.#pass(link, server, client);
    return link;
  }

  /** Waits for the first message, which names the sender. */
  #openOnceNamed(client: Socket, way: { to: string; port: number }): void {
    let header = Buffer.alloc(0);
    const read = (chunk: Buffer) => {
      header = Buffer.concat([header, chunk]);
      if (header.length < SENDER[1]) return;
      client.off('data', read);
      const link = this.#open(client, way);
      link.from = header.toString('latin1', ...SENDER);
      link.isDark ||= this.#isCut(link);
      client.emit('data', header);
    };
    client.on('data', read).on('error', () => undefined);
  }

  #pass(link: Link, source: Socket, target: Socket): void {
    source.on('data', (bytes) => {
      if (!link.isDark) target.write(bytes);
    });
    source.on('error', () => undefined);
    source.on('close', () => {
      // In the dark nobody learns of the other's end.
      if (!link.isDark) target.destroy();
      if (link.ends.every((end) => end.destroyed)) this.#links.delete(link);
    });
  }

  #isCut({ from, to }: Link): boolean {
    return this.#isolated.has(to) || (from !== undefined && this.#isolated.has(from));
  }
}
