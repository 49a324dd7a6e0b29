import path from 'node:path';
import ts from 'typescript';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** A message of the compiler about a place in a file. */
export interface Diagnosis {
  /** 1 for the first line of the file. */
  readonly line: number;
  readonly message: string;
}

export interface DiagnoseOptions {
  /** Over those of the project. */
  readonly compilerOptions?: ts.CompilerOptions;
  /** Applied to the file's text before it is compiled. */
  readonly edit?: (source: string) => string;
}

/** The files read so far, by path: the programs of one suite share most of them. */
const sources = new Map<string, ts.SourceFile | undefined>();

/** Returns the compiler's messages about one file, with the project's options. */
export function diagnose(file: string, { compilerOptions, edit }: DiagnoseOptions): Diagnosis[] {
  const config = ts.readConfigFile(path.join(ROOT, 'tsconfig.json'), (name) => ts.sys.readFile(name));
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, ROOT);
  const host = ts.createCompilerHost(options);
  const readSource = host.getSourceFile.bind(host);
  host.getSourceFile = (name, languageOptions) => {
    if (name === file && edit) return ts.createSourceFile(name, edit(host.readFile(name) ?? ''), languageOptions);
    if (!sources.has(name)) sources.set(name, readSource(name, languageOptions));
    return sources.get(name);
  };
  const program = ts.createProgram([file], { ...options, ...compilerOptions }, host);
  const source = program.getSourceFile(file)!;
  return program.getSemanticDiagnostics(source).map(({ start = 0, messageText }) => ({
    line: source.getLineAndCharacterOfPosition(start).line + 1,
    message: ts.flattenDiagnosticMessageText(messageText, '\n'),
  }));
}
