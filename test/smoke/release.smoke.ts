import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readdir, readFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { publishedPackages, readManifest } from '../../release/packages.js';
import { Application } from './application.js';
import { NodeVersions } from './node-versions.js';
import { PROJECT } from './packed-package.js';
import { runCommand } from './run-command.js';

/** Changesets needs a newer Node.js than the library. */
const NODE = '24';

describe('a dry run of the release', () => {
  let PATH: string | undefined;

  beforeAll(async () => {
    const nodes = await NodeVersions.fetch([NODE]);
    const binary = nodes.binary(NODE);
    PATH = binary && `${dirname(binary)}${delimiter}${process.env.PATH}`;
  });

  afterAll(() => Application.removeAll());

  it('installs the next versions of all packages into one application, which handles a message', async () => {
    if (PATH === undefined) return;
    const output = await runCommand('node', ['release/dry-run.js', '--built'], { cwd: PROJECT, env: { PATH } });
    expect(output).toContain('handled a message\n');
    for (const name of ['', '-board', '-bull-board', '-cli']) {
      expect(output).toMatch(new RegExp(`^nestjs-delay-queue${name} (\\S+) -> (?!\\1$)\\d+\\.\\d+\\.\\d+$`, 'm'));
    }
  });
});

describe('the software bill of materials', () => {
  interface Component {
    readonly 'bom-ref': string;
    readonly name: string;
    readonly licenses: readonly { readonly license: { readonly id: string } }[];
  }
  interface Bill {
    readonly bomFormat: string;
    readonly components: readonly Component[];
    readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
  }
  let text: string;
  let bill: Bill;
  const refs = (manifests: readonly Record<string, unknown>[]) =>
    manifests.map(({ name, version }) => `${String(name)}@${String(version)}`).sort();
  const installed = (name: string) => readManifest(join(PROJECT, 'node_modules', name));
  const packages = publishedPackages(PROJECT).map((each) => readManifest(join(PROJECT, each.published)));
  const dependenciesOf = ({ dependencies }: Record<string, unknown>) => Object.keys((dependencies as object) ?? {});
  /** The packages that the code of the board's page imports: its build copies them into the page. */
  const onPage = async () => {
    const folder = join(PROJECT, 'packages/board/page');
    const files = (await readdir(folder, { recursive: true })).filter((file) => /\.tsx?$/.test(file));
    const sources = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
    return new Set(
      sources.flatMap((source) =>
        [...source.matchAll(/ from '(@[^/']+\/[^/']+|[^@./'][^/']*)/g)].map(([, name]) => name!),
      ),
    );
  };

  beforeAll(async () => {
    await runCommand('npm', ['run', 'release:sbom'], { cwd: PROJECT });
    text = await readFile(join(PROJECT, 'dist/sbom.cdx.json'), 'utf8');
    bill = JSON.parse(text) as Bill;
  });

  it('lists the published packages, what is installed with them, and what is bundled, and nothing else', async () => {
    expect(bill.bomFormat).toBe('CycloneDX');
    const others = new Set([...packages.flatMap(dependenciesOf), ...(await onPage())]);
    expect(others).toEqual(new Set(['ms', 'commander', 'preact']));
    expect(bill.components.map((each) => each['bom-ref']).sort()).toEqual(
      refs([...packages, ...[...others].map(installed)]),
    );
    expect(text).not.toMatch(/file:|\/tmp\//);
  });

  it('says which package depends on what, at run time', async () => {
    for (const manifest of packages) {
      const bundled = manifest.name === 'nestjs-delay-queue-board' ? [...(await onPage())] : [];
      const [ref] = refs([manifest]);
      const { dependsOn } = bill.dependencies.find((each) => each.ref === ref)!;
      expect([...dependsOn].sort()).toEqual(refs([...dependenciesOf(manifest), ...bundled].map(installed)));
    }
  });

  it('names the licence of each', () => {
    for (const { name, licenses } of bill.components) {
      expect({ name, licences: licenses.map(({ license }) => license.id) }).toEqual({ name, licences: ['MIT'] });
    }
  });
});
