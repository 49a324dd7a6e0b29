import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import ts from 'typescript';
import { ROOT } from './deployment-files.js';

/** A value that is to have a type. */
export interface Literal {
  /** In TypeScript, with `import('…')` for what it needs. */
  readonly type: string;
  readonly value: object;
}

/**
 * Compiles values as literals of their types. Other than validation by most schemas, this knows fields that do not exist.
 *
 * @param declarations - TypeScript that the types need
 * @returns what the compiler says
 */
export async function typeErrors(literals: readonly Literal[], declarations = ''): Promise<string[]> {
  await mkdir(path.join(ROOT, 'temp'), { recursive: true });
  const folder = await mkdtemp(path.join(ROOT, 'temp', 'literals-'));
  try {
    const file = path.join(folder, 'literals.ts');
    const constants = literals.map(
      ({ type, value }, i) => `export const literal${i}: ${type} = ${JSON.stringify(value, null, 2)};`,
    );
    await writeFile(file, [declarations, ...constants].join('\n'));
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
