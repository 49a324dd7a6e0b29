/**
 * Builds the board's page into `dist/page`: one script, one style sheet and an icon, with hashes in their names, `index.html`, and the
 * licences of the packages in the script.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { fileURLToPath, URL } from 'node:url';
import { build } from 'esbuild';

const PAGE = fileURLToPath(new URL('.', import.meta.url));
const DIST = fileURLToPath(new URL('../dist/page/', import.meta.url));
const PLACEHOLDERS = { '.js': '%SCRIPT%', '.css': '%STYLE%', '.svg': '%ICON%' };

await rm(DIST, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: ['main.tsx', 'styles/board.css', 'icon.svg'].map((file) => join(PAGE, file)),
  tsconfig: join(PAGE, 'tsconfig.json'),
  absWorkingDir: PAGE,
  outdir: join(DIST, 'assets'),
  entryNames: '[name].[hash]',
  assetNames: '[name].[hash]',
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['es2022', 'chrome111', 'firefox113', 'safari16.4'],
  loader: { '.svg': 'copy' },
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
});

let html = await readFile(join(PAGE, 'index.html'), 'utf8');
for (const file of Object.keys(metafile.outputs)) {
  html = html.replace(PLACEHOLDERS[extname(file)], basename(file));
}
await mkdir(DIST, { recursive: true });
await writeFile(join(DIST, 'index.html'), html);

const bundled = Object.keys(metafile.inputs).map((file) => /^.*\/node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0]);
const licences = [...new Set(bundled)].filter(Boolean).map(async (folder) => {
  const licence = await readFile(join(PAGE, folder, 'LICENSE'), 'utf8');
  return `${basename(folder)}\n\n${licence}`;
});
await writeFile(join(DIST, 'LICENSES.txt'), (await Promise.all(licences)).join('\n'));
