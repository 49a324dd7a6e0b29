import { createRequire } from 'node:module';
import { join } from 'node:path';
import { readManifest } from './packages.js';

/** The licences that a package may have which is installed with ours. */
const ALLOWED = ['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0'];

/**
 * Makes sure that what is installed with a package has a licence that its users may accept without asking. Reads only installed manifests.
 *
 * @param folder - of a package; peers are the choice of its users, and are not checked
 * @returns the names of the packages checked
 */
export function checkLicences(folder, checked = new Set()) {
  const { name: dependent, dependencies = {} } = readManifest(folder);
  for (const name of Object.keys(dependencies)) {
    const found = folderOf(name, folder);
    if (checked.has(found)) continue;
    checked.add(found);
    const { license } = readManifest(found);
    if (!ALLOWED.includes(license)) throw new Error(`${dependent} depends on ${name}, whose licence is ${license}.`);
    checkLicences(found, checked);
  }
  return checked;
}

/** A package need not export its manifest, so its folder is looked for. */
function folderOf(name, folder) {
  const paths = createRequire(join(folder, 'package.json')).resolve.paths(name) ?? [];
  for (const path of paths) {
    try {
      readManifest(join(path, name));
      return join(path, name);
    } catch {
      // It is in another folder.
    }
  }
  throw new Error(`${name}, on which the package in ${folder} depends, is not installed.`);
}
