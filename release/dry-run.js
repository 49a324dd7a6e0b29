/**
 * `npm run release:dry-run` makes the next release without publishing it: builds and packs all packages with their next versions,
 * installs the tarballs into an empty application, and runs that. Then it writes the page of proofs. `--built` leaves out the build.
 */
import { execFileSync } from 'node:child_process';
import console from 'node:console';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { runChangesets } from './changesets.js';
import { checkPeersOfLayouts } from './layout-peers.js';
import { publishedPackages, readManifest, ROOT } from './packages.js';

const INSTALL = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'];
/** Fields of a manifest that name versions of other packages. */
const RANGES = ['dependencies', 'peerDependencies'];
const REHEARSAL = '---\nnestjs-delay-queue: minor\n---\n\nA rehearsal.\n';

const work = mkdtempSync(join(tmpdir(), 'release-'));
const run = (command, args, cwd) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

try {
  if (!process.argv.includes('--built')) run('npm', ['run', 'build:packages'], ROOT);
  const packages = publishedPackages();
  const plan = planRelease(packages);
  checkPeersOfLayouts(packages, ({ folder }) => readManifest(join(plan.copy, folder)));
  const tarballs = packages.map((each) => pack(each, plan));
  tryOut(packages, tarballs);
  for (const { name } of packages)
    console.log(`${name} ${readManifest(join(ROOT, 'dist', 'package')).version} -> ${plan.versions[name]}`);
  run(process.execPath, [join('release', 'proof.js')], ROOT);
  console.log('The dry run of the release succeeded; nothing was published.');
} finally {
  rmSync(work, { recursive: true });
}

/** Lets changesets do its work on a copy. */
function planRelease(packages) {
  const copy = join(work, 'plan');
  const files = [
    '.changeset',
    'CHANGELOG.md',
    ...packages.flatMap(({ folder }) => [join(folder, 'package.json'), join(folder, 'CHANGELOG.md')]),
  ];
  for (const file of [...files, 'package-lock.json']) {
    if (existsSync(join(ROOT, file))) cpSync(join(ROOT, file), join(copy, file), { recursive: true });
  }
  if (!readdirSync(join(copy, '.changeset')).some((file) => file.endsWith('.md'))) {
    console.log('No changesets are pending: rehearsing with a minor one.');
    writeFileSync(join(copy, '.changeset', 'rehearsal.md'), REHEARSAL);
  }
  runChangesets(['version'], copy);
  const versions = Object.fromEntries(
    packages.map(({ name, folder }) => [name, readManifest(join(copy, folder)).version]),
  );
  return { copy, versions };
}

/** Packs what was built, under the manifest of the next release. */
function pack({ name, folder, published }, { copy }) {
  const staged = join(work, 'staged', name);
  const next = readManifest(join(copy, folder));
  const built = readManifest(join(ROOT, published));
  cpSync(join(ROOT, published), staged, { recursive: true, filter: (path) => !path.includes('node_modules') });
  const ranges = RANGES.filter((field) => built[field]).map((field) => [field, next[field]]);
  const manifest = { ...built, version: next.version, ...Object.fromEntries(ranges) };
  writeFileSync(join(staged, 'package.json'), JSON.stringify(manifest, null, 2));
  const changelog = join(copy, folder, 'CHANGELOG.md');
  if (existsSync(changelog)) cpSync(changelog, join(staged, 'CHANGELOG.md'));
  const tarballs = join(work, 'tarballs');
  mkdirSync(tarballs, { recursive: true });
  const [{ filename }] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', tarballs], staged));
  return join(tarballs, filename);
}

/** As a user would: all packages together, with the peers that npm chooses for them. */
function tryOut(packages, tarballs) {
  const application = join(work, 'application');
  mkdirSync(application);
  writeFileSync(
    join(application, 'package.json'),
    JSON.stringify({ name: 'application', private: true, type: 'module' }),
  );
  run('npm', [...INSTALL, ...tarballs], application);
  cpSync(join(ROOT, 'release', 'trial.mjs'), join(application, 'main.mjs'));
  process.stdout.write(run(process.execPath, ['main.mjs', ...packages.map(({ name }) => name)], application));
}
