import { describe, expect, test } from '@jest/globals';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser';
import { parse } from 'yaml';
import { publishedPackages } from '../../release/packages.js';
import { SERVERS, TOO_OLD } from '../versions/servers.js';
import { readPage, ROOT } from './pages.js';

/** The part of a workflow that is read here. */
interface Workflow {
  readonly permissions?: Permissions;
  readonly jobs: Readonly<Record<string, Job>>;
}

type Permissions = Readonly<Record<string, string>>;

interface Job {
  readonly permissions?: Permissions;
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly string[]>> };
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

const FOLDER = '.github/workflows';
const FORMS = '.github/ISSUE_TEMPLATE';

const filesIn = async (folder: string) =>
  (await readdir(path.join(ROOT, folder))).filter((name) => name.endsWith('.yml')).map((name) => `${folder}/${name}`);
const readYaml = async <Content>(file: string) => parse(await readPage(file)) as Content;
const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap(({ steps }) => steps);
/** The npm scripts that commands run, and that `package.json` lacks. */
async function unknownScriptsOf(commands: string): Promise<string[]> {
  const { scripts } = JSON.parse(await readPage('package.json')) as { scripts: Record<string, string> };
  const withoutComments = commands.replace(/^ *#.*$/gm, '');
  const run = [...withoutComments.matchAll(/npm run ([\w:-]+)/g)].map(([, script]) => script!);
  expect(run).not.toEqual([]);
  return run.filter((script) => !scripts[script]);
}

const workflows = await filesIn(FOLDER);

describe.each(workflows)('%s', (file) => {
  test("is valid according to GitHub's workflow parser", async () => {
    const { context, value } = parseWorkflow(
      { name: file, content: await readPage(file) },
      new NoOperationTraceWriter(),
    );
    const template = value && (await convertWorkflowTemplate(context, value));
    expect(context.errors.getErrors().map(({ message }) => message)).toEqual([]);
    expect(template?.jobs.length).toBeGreaterThan(0);
  });

  test('runs only npm scripts that exist', async () => {
    const runs = stepsOf(await readYaml<Workflow>(file)).map(({ run = '' }) => run);
    expect(await unknownScriptsOf(runs.join('\n'))).toEqual([]);
  });

  test("uses only GitHub's own actions, with versions", async () => {
    const uses = stepsOf(await readYaml<Workflow>(file)).flatMap(({ uses: action }) => action ?? []);
    expect(uses.filter((action) => !/^actions\/[\w-]+@v\d+$/.test(action))).toEqual([]);
  });

  test('grants no write permissions to the whole workflow', async () => {
    const { permissions } = await readYaml<Workflow>(file);
    expect(permissions).toBeDefined();
    expect(Object.values(permissions!)).not.toContain('write');
  });
});

test.each(['.ci/run', '.ci/slow'])('%s runs only npm scripts that exist', async (file) => {
  expect(await unknownScriptsOf(await readPage(file))).toEqual([]);
});

describe('the workflow for changes', () => {
  const matrixOf = async (job: string) =>
    (await readYaml<Workflow>(`${FOLDER}/ci.yml`)).jobs[job]?.strategy?.matrix ?? {};

  test('runs the tests on each supported line of Node.js', async () => {
    expect((await matrixOf('node')).node).toEqual(['20', '22', '24', '26']);
  });

  test('runs the tests against each supported server, and against one that must be refused', async () => {
    expect((await matrixOf('redis')).server).toEqual([TOO_OLD, ...SERVERS].map(({ name }) => name));
  });

  test('runs each suite of the packed packages in a separate job', async () => {
    const files = await readdir(path.join(ROOT, 'test/smoke'));
    const suites = files.filter((name) => name.endsWith('.smoke.ts')).map((name) => name.replace('.smoke.ts', ''));
    expect(suites).toContain('nest-12');
    expect([...((await matrixOf('nest')).suite ?? [])].sort()).toEqual(suites.sort());
  });

  test('runs every slow suite except the smoke tests in a separate job', async () => {
    const [, suites = ''] = /^SUITES=\((.*)\)$/m.exec(await readPage('.ci/slow')) ?? [];
    expect([...((await matrixOf('slow')).suite ?? []), 'smoke'].sort()).toEqual(suites.split(' ').sort());
  });
});

test('only the job called publish releases packages, with provenance, a bill of materials and the page of proofs', async () => {
  const all = await Promise.all(workflows.map((file) => readYaml<Workflow>(file)));
  const jobs = all.flatMap((workflow) => Object.entries(workflow.jobs));
  const identified = jobs.filter(([, { permissions }]) => permissions?.['id-token'] === 'write');
  expect(identified.map(([name]) => name)).toContain('publish');
  const publishing = jobs.filter(([, { steps }]) => steps.some(({ run }) => run?.includes('release:publish')));
  expect(publishing.map(([name]) => name)).toEqual(['publish']);
  expect(publishing[0]![1].steps.map(({ run }) => run)).toContain('npm run release:publish -- --provenance');
  const runs = publishing[0]![1].steps.flatMap(({ run }) => run ?? []);
  expect(runs.indexOf('npm run release:sbom')).toBeGreaterThan(runs.indexOf('npm run build:packages'));
  expect(runs.at(-1)).toContain('gh release upload "$tag" dist/sbom.cdx.json docs/proof.md');
});

describe('an issue form', () => {
  interface Form {
    readonly name: string;
    readonly description: string;
    readonly body: readonly {
      readonly type: string;
      readonly id: string;
      readonly attributes: { readonly label: string; readonly options?: readonly string[] };
    }[];
  }

  test('has fields that GitHub knows, with unique ids and labels', async () => {
    const forms = (await filesIn(FORMS)).filter((file) => !file.endsWith('config.yml'));
    expect(forms.length).toBeGreaterThanOrEqual(2);
    for (const form of await Promise.all(forms.map((file) => readYaml<Form>(file)))) {
      expect(form).toMatchObject({ name: expect.any(String), description: expect.any(String) });
      expect(new Set(form.body.map(({ id }) => id)).size).toBe(form.body.length);
      for (const { type, attributes } of form.body) {
        expect(['textarea', 'input', 'dropdown']).toContain(type);
        expect(attributes.label).toEqual(expect.any(String));
        expect(type === 'dropdown').toBe(attributes.options !== undefined);
      }
    }
  });
});

test('every package in the folder packages is published after the library', async () => {
  const folders = await readdir(path.join(ROOT, 'packages'));
  const names = await Promise.all(
    folders.map(
      async (folder) => (JSON.parse(await readPage(`packages/${folder}/package.json`)) as { name: string }).name,
    ),
  );
  expect(publishedPackages().map(({ name }) => name)).toEqual(['nestjs-delay-queue', ...names.sort()]);
});
