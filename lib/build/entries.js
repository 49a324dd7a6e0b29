import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isGivenPeer, PEERS } from './bundle.js';
import { pathBetween, writeLines } from './folders.js';

/**
 * Writes the ES module entries. Each imports the peers in its own format, and hands them to the code.
 *
 * @param chunks - what was bundled
 */
export function writeEntries(built, chunks) {
  for (const name of built.entries) {
    const chunk = chunks.find(({ fileName }) => fileName === `${name}.js`);
    writeEntry(built, name, { names: chunk.exports.toSorted(), peers: peersOf(chunk, chunks) });
  }
}

/**
 * The entry calls a function that requires the library, so that the peers are there first: jest runs imported CommonJS
 * modules before the ES modules beside them.
 */
function writeEntry({ cjs, esm }, name, { names, peers }) {
  const library = join(cjs, `${name}.js`);
  const loader = join(cjs, `${name}.load.js`);
  const entry = join(esm, `${name}.js`);
  const imports = peers.map((peer) => ({ peer, local: peer.replace('@nestjs/', '').replace(/\W+/g, '_') }));
  writeLines(loader, [
    '"use strict";',
    'module.exports = (peers) => {',
    `    Object.assign(require("${pathBetween(loader, join(cjs, PEERS))}"), peers);`,
    `    return require("${pathBetween(loader, library)}");`,
    '};',
  ]);
  mkdirSync(dirname(entry), { recursive: true });
  writeLines(entry, [
    // Parts of Nest that are imported alone expect it.
    ...(peers.some((peer) => peer.startsWith('@nestjs/')) ? ["import 'reflect-metadata';"] : []),
    ...imports.map(({ peer, local }) => `import * as ${local} from '${peer}';`),
    `import load from '${pathBetween(entry, loader)}';`,
    `export const { ${names.join(', ')} } = load({`,
    ...imports.map(({ peer, local }) => `    '${peer}': ${local},`),
    '});',
  ]);
}

/** The peers that an entry and the chunks that it needs require, and that it imports for them. */
function peersOf(entry, chunks) {
  const needed = new Set([entry]);
  for (const { imports } of needed) {
    for (const chunk of chunks.filter(({ fileName }) => imports.includes(fileName))) needed.add(chunk);
  }
  const peers = [...needed].flatMap(({ imports }) => imports.filter(isGivenPeer));
  return [...new Set(peers)];
}
