import { type Dirent, existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Answer } from './exchange.js';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};

const NOT_BUILT =
  '<!doctype html><title>Delay queues</title><p>The page of the board is not built. Its API is at <code>api/config</code>.</p>';

interface File {
  readonly type: string;
  readonly content: Buffer;
  readonly compressed: Buffer;
}

/** The files of the page, in memory. */
export class Page {
  readonly #files = new Map<string, File>();
  readonly #index: string;

  /** @param folder - `index.html` and `assets/` */
  constructor(folder: string) {
    const index = join(folder, 'index.html');
    this.#index = existsSync(index) ? readFileSync(index, 'utf8') : NOT_BUILT;
    const assets = join(folder, 'assets');
    const entries: Dirent[] = existsSync(assets) ? readdirSync(assets, { recursive: true, withFileTypes: true }) : [];
    for (const entry of entries) {
      const type = TYPES[extname(entry.name)];
      if (!entry.isFile() || type === undefined) continue;
      const file = join(entry.parentPath, entry.name);
      const content = readFileSync(file);
      const name = relative(assets, file).split(sep).join('/');
      this.#files.set(name, { type, content, compressed: gzipSync(content, { level: 9 }) });
    }
  }

  /** @param name - below `assets/` */
  asset(name: string, acceptsGzip: boolean): Answer | undefined {
    const file = this.#files.get(name);
    if (!file) return undefined;
    const headers = {
      'content-type': file.type,
      'cache-control': 'private, max-age=31536000, immutable',
      vary: 'accept-encoding',
    };
    if (!acceptsGzip) return { status: 200, headers, body: file.content };
    return { status: 200, headers: { ...headers, 'content-encoding': 'gzip' }, body: file.compressed };
  }

  /**
   * The page for a path below the board's own. `%BASE%` in it stands for the way to the board's path, which is relative, so that it holds behind
   * any prefix that a proxy removes.
   * @param path - with a leading `/`
   */
  index(path: string): Answer {
    const depth = path.split('/').length - 2;
    const base = depth === 0 ? '.' : Array<string>(depth).fill('..').join('/');
    const headers = { 'content-type': TYPES['.html']!, 'cache-control': 'no-store' };
    return { status: 200, headers, body: this.#index.replaceAll('%BASE%', base) };
  }
}
