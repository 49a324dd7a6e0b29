import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PEERS } from './bundle.js';
import { CJS, ENTRIES, ESM, pathBetween, writeLines } from './folders.js';

/**
 * Writes the ES module entries. Each imports Nest in its own format, and hands it to the code.
 *
 * @param chunks - what was bundled
 */
export function writeEntries(chunks) {
  for (const name of ENTRIES) {
    const chunk = chunks.find(({ fileName }) => fileName === `${name}.js`);
    writeEntry(name, { names: chunk.exports.toSorted(), peers: peersOf(chunk, chunks) });
  }
}

/**
 * The entry calls a function that requires the library, so that the peers are there first: jest runs imported CommonJS
 * modules before the ES modules beside them.
 */
function writeEntry(name, { names, peers }) {
  const library = join(CJS, `${name}.js`);
  const loader = join(CJS, `${name}.load.js`);
  const entry = join(ESM, `${name}.js`);
  const imports = peers.map((peer) => ({ peer, local: peer.replace('@nestjs/', '').replace(/\W+/g, '_') }));
  writeLines(loader, [
    '"use strict";',
    'module.exports = (peers) => {',
    `    Object.assign(require("${pathBetween(loader, join(CJS, PEERS))}"), peers);`,
    `    return require("${pathBetween(loader, library)}");`,
    '};',
  ]);
  mkdirSync(dirname(entry), { recursive: true });
  writeLines(entry, [
    // Parts of Nest that are imported alone expect it.
    "import 'reflect-metadata';",
    ...imports.map(({ peer, local }) => `import * as ${local} from '${peer}';`),
    `import load from '${pathBetween(entry, loader)}';`,
    `export const { ${names.join(', ')} } = load({`,
    ...imports.map(({ peer, local }) => `    '${peer}': ${local},`),
    '});',
  ]);
}

/** The packages of Nest that an entry and the chunks that it needs require. */
function peersOf(entry, chunks) {
  const needed = new Set([entry]);
  for (const { imports } of needed) {
    for (const chunk of chunks.filter(({ fileName }) => imports.includes(fileName))) needed.add(chunk);
  }
  const peers = [...needed].flatMap(({ imports }) => imports.filter((name) => name.startsWith('@nestjs/')));
  return [...new Set(peers)];
}
