import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { type Mutant } from './mutation/mutant.js';
import { mutated } from './mutation/mutation.js';

type Format = Parameters<ts.CompilerHost['getSourceFile']>[1];

/** Tells which mutants the compiler refuses. What is no longer used is no error here: it would be there, and do nothing. */
export class TypeCheck {
  readonly #options: ts.CompilerOptions;
  readonly #files: readonly string[];
  /** Parsed files of the project as it is, by path. */
  readonly #parsed = new Map<string, ts.SourceFile>();
  readonly #host: ts.CompilerHost;
  readonly #clean: ts.SemanticDiagnosticsBuilderProgram;
  /** The file that is replaced now. */
  #changed: { readonly path: string; readonly text: string } | undefined;

  /**
   * @param project - its folder
   * @throws Error if the project itself does not compile
   */
  constructor(private readonly project: string) {
    const config = ts.readConfigFile(join(project, 'tsconfig.json'), (path) => ts.sys.readFile(path));
    const { options, fileNames } = ts.parseJsonConfigFileContent(
      { ...(config.config as object), include: ['lib'] },
      ts.sys,
      project,
    );
    this.#options = { ...options, noUnusedLocals: false, noUnusedParameters: false, allowUnreachableCode: true };
    this.#files = fileNames;
    const host = ts.createCompilerHost(this.#options);
    this.#host = { ...host, getSourceFile: (path, format) => this.#sourceOf(path, format), createHash: digestOf };
    this.#clean = this.#build(undefined);
    const error = firstError(this.#clean);
    if (error !== undefined) throw new Error(`The project does not compile: ${error}`);
  }

  /** True if the mutant compiles. Lua always does: Redis would refuse it, and every suite that needs the script would notice. */
  compiles(mutant: Mutant): boolean {
    if (mutant.file.endsWith('.lua')) return true;
    const path = join(this.project, mutant.file);
    this.#changed = { path, text: mutated(readFileSync(path, 'utf8'), mutant) };
    const error = firstError(this.#build(this.#clean));
    this.#changed = undefined;
    return error === undefined;
  }

  #build(old: ts.SemanticDiagnosticsBuilderProgram | undefined): ts.SemanticDiagnosticsBuilderProgram {
    return ts.createSemanticDiagnosticsBuilderProgram(this.#files, this.#options, this.#host, old);
  }

  #sourceOf(path: string, format: Format): ts.SourceFile | undefined {
    if (path === this.#changed?.path) return parse(path, this.#changed.text, format);
    const known = this.#parsed.get(path);
    if (known) return known;
    const text = ts.sys.readFile(path);
    if (text === undefined) return undefined;
    const source = parse(path, text, format);
    this.#parsed.set(path, source);
    return source;
  }
}

/** The builder compares versions to find what a change affects. */
function parse(path: string, text: string, format: Format): ts.SourceFile {
  const source = ts.createSourceFile(path, text, format, true);
  return Object.assign(source, { version: digestOf(text) });
}

function firstError(program: ts.SemanticDiagnosticsBuilderProgram): string | undefined {
  const [syntactic] = program.getSyntacticDiagnostics();
  if (syntactic) return ts.flattenDiagnosticMessageText(syntactic.messageText, '\n');
  for (let next = program.getSemanticDiagnosticsOfNextAffectedFile(); next;) {
    const [error] = next.result;
    if (error) return `${error.file?.fileName}: ${ts.flattenDiagnosticMessageText(error.messageText, '\n')}`;
    next = program.getSemanticDiagnosticsOfNextAffectedFile();
  }
  return undefined;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
