import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, URL } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * The packages that are published, the library first: the others need it. Every folder of `packages` with a manifest is one.
 *
 * @returns for each: its `name`, the folder of its sources, and the folder that is published once it is built
 */
export function publishedPackages(root = ROOT) {
  const folders = readdirSync(join(root, 'packages'))
    .map((name) => join('packages', name))
    .filter((folder) => existsSync(join(root, folder, 'package.json')));
  const library = { folder: '.', published: join('dist', 'package') };
  return [library, ...folders.map((folder) => ({ folder, published: folder }))].map((each) => ({
    ...each,
    name: readManifest(join(root, each.folder)).name,
  }));
}

export function readManifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
