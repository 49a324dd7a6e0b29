import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy that serves an application below a path of its own, as nginx does with `proxy_pass` and `proxy_set_header Host $host`. */
export class PathProxy {
  private constructor(
    /** Where the application is served, without a slash at its end. */
    readonly url: string,
    private readonly server: ReturnType<typeof createServer>,
  ) {}

  static async start(target: string, path: string): Promise<PathProxy> {
    const server = createServer((incoming, outgoing) => {
      const { method, headers, url = '' } = incoming;
      if (!url.startsWith(path)) return void outgoing.writeHead(404).end();
      const options = { method, headers: { ...headers, 'x-forwarded-for': '10.0.0.1' }, agent: false };
      const passed = request(`${target}${url.slice(path.length)}`, options, (answer) => {
        outgoing.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(outgoing);
      });
      outgoing.once('close', () => passed.destroy());
      passed.once('error', () => outgoing.destroy());
      incoming.pipe(passed);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return new PathProxy(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, server);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}
