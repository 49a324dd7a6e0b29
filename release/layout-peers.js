import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './packages.js';

const LAYOUTS = "'nestjs-delay-queue/layouts'";

/**
 * Makes sure that packages of layouts ask for exactly one version of the library: what they build on may change with each.
 *
 * @param packages - from `publishedPackages`
 * @param manifestOf - returns the manifest of one of them
 */
export function checkPeersOfLayouts(packages, manifestOf) {
  const [library, ...others] = packages;
  const { version } = manifestOf(library);
  for (const each of others.filter(isOfLayout)) {
    const wanted = manifestOf(each).peerDependencies?.[library.name];
    if (wanted === version) continue;
    throw new Error(`${each.name} imports ${LAYOUTS}, so its peer ${library.name} must be ${version}, not ${wanted}.`);
  }
}

export function isOfLayout({ folder }) {
  const sources = join(ROOT, folder, 'src');
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  return files.some((file) => readFileSync(join(sources, file), 'utf8').includes(LAYOUTS));
}
