/**
 * `npm run release:sbom` writes a software bill of materials of the built packages (CycloneDX) to `dist/sbom.cdx.json`. npm lists what it
 * installs with them; peers are the choice of their users, and are left out.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publishedPackages, readManifest, ROOT } from './packages.js';

/** What builds put into packages: npm cannot know. */
const BUNDLED = { 'nestjs-delay-queue-board': ['preact'] };

const work = mkdtempSync(join(tmpdir(), 'sbom-'));
// npm names the bill after its folder.
const folder = join(work, 'nestjs-delay-queue-packages');
const npm = (args, cwd = folder) =>
  execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

try {
  mkdirSync(folder);
  const { version } = readManifest(ROOT);
  const manifest = { name: 'nestjs-delay-queue-packages', version, private: true };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const tarballs = publishedPackages().map(({ published }) => {
    const [{ filename }] = JSON.parse(npm(['pack', '--json', '--pack-destination', work], join(ROOT, published)));
    return join(work, filename);
  });
  npm([
    'install',
    '--legacy-peer-deps',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--prefer-offline',
    ...tarballs,
  ]);
  const bill = JSON.parse(npm(['sbom', '--legacy-peer-deps', '--omit', 'dev', '--sbom-format', 'cyclonedx']));
  for (const component of bill.components) {
    // The paths of this machine mean nothing to others.
    component.externalReferences = component.externalReferences.filter(({ url }) => !url.startsWith('file:'));
  }
  for (const [name, bundled] of Object.entries(BUNDLED)) {
    const dependent = bill.dependencies.find(({ ref }) => ref.startsWith(`${name}@`));
    for (const each of bundled) addBundled(bill, dependent, readManifest(join(ROOT, 'node_modules', each)));
  }
  writeFileSync(join(ROOT, 'dist', 'sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`);
} finally {
  rmSync(work, { recursive: true });
}

function addBundled({ components, dependencies }, dependent, { name, version, license }) {
  const ref = `${name}@${version}`;
  const licenses = [{ license: { id: license } }];
  components.push({
    'bom-ref': ref,
    type: 'library',
    name,
    version,
    scope: 'required',
    purl: `pkg:npm/${ref}`,
    licenses,
  });
  dependencies.push({ ref, dependsOn: [] });
  dependent.dependsOn.push(ref);
}
