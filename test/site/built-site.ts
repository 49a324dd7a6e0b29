import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { ROOT } from '../docs/pages.js';

const DIST = path.join(ROOT, 'site/dist');
const { BASE } = (await import(path.join(ROOT, 'site/build/folders.js'))) as { readonly BASE: string };

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

/** The built site, served as GitHub Pages would. */
export class BuiltSite {
  private constructor(private readonly server: Server) {}

  static async serve(): Promise<BuiltSite> {
    if (!existsSync(DIST)) throw new Error('There is no site/dist: build it with node site/build.js.');
    const server = createServer((request, response) => {
      const address = decodeURIComponent(new URL(request.url ?? '/', 'http://site').pathname);
      const file = address.startsWith(BASE) ? fileOf(address.slice(BASE.length)) : undefined;
      const type = file === undefined ? undefined : TYPES[path.extname(file)];
      response.writeHead(file === undefined ? 404 : 200, type === undefined ? {} : { 'content-type': type });
      void (file === undefined ? Promise.resolve('') : readFile(file)).then((body) => response.end(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new BuiltSite(server);
  }

  /** Without a slash at its end. */
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${BASE.slice(0, -1)}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** The addresses of all pages. */
  static async pages(): Promise<string[]> {
    const names = await readdir(DIST, { recursive: true });
    const pages = names.filter((name) => name.endsWith('.html') && name !== '404.html');
    return pages.map((name) => `/${name.replace(/\.html$/, '').replace(/(^|\/)index$/, '$1')}`).sort();
  }

  static text(file: string): Promise<string> {
    return readFile(path.join(DIST, file), 'utf8');
  }
}

function fileOf(address: string): string | undefined {
  const file = path.join(DIST, address);
  return [file, `${file}.html`, path.join(file, 'index.html')].find(
    (candidate) => path.extname(candidate) !== '' && existsSync(candidate),
  );
}
