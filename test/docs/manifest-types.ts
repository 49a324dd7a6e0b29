import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import ts from 'typescript';
import { ROOT } from './deployment-files.js';

/** The types of manifests, by version and kind. */
const TYPES: Readonly<Record<string, string>> = {
  'apps/v1 Deployment': "import('kubernetes-types/apps/v1').Deployment",
  'keda.sh/v1alpha1 ScaledObject': "import('@kubernetes-models/keda/keda.sh/v1alpha1').IScaledObject",
  'keda.sh/v1alpha1 TriggerAuthentication': "import('@kubernetes-models/keda/keda.sh/v1alpha1').ITriggerAuthentication",
};

/**
 * Compiles manifests as literals of their types. Other than validation by a schema, this knows fields that do not exist.
 *
 * @returns what the compiler says
 */
export async function typeCheckManifests(manifests: readonly object[]): Promise<string[]> {
  await mkdir(path.join(ROOT, 'temp'), { recursive: true });
  const folder = await mkdtemp(path.join(ROOT, 'temp', 'manifests-'));
  try {
    const file = path.join(folder, 'manifests.ts');
    await writeFile(file, manifests.map(asConstant).join('\n'));
    const program = ts.createProgram([file], {
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      target: ts.ScriptTarget.ES2022,
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: [],
    });
    return ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

function asConstant(manifest: object, index: number): string {
  const { apiVersion, kind } = manifest as { readonly apiVersion: string; readonly kind: string };
  const type = TYPES[`${apiVersion} ${kind}`];
  if (type === undefined) throw new Error(`no type is known for ${apiVersion} ${kind}`);
  return `export const manifest${index}: ${type} = ${JSON.stringify(manifest, null, 2)};`;
}
