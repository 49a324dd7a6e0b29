import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { promisify } from 'node:util';
import { compileFunction } from 'node:vm';
import { transformFile } from '@swc/core';
import ts from 'typescript';
import { compiledFolder, ENVIRONMENT } from '../support/run-program.js';
import { BOARD_README, docPages, PAGE_README, ROOT } from './pages.js';

/**
 * A snippet, perhaps with a mark before it, and with the output that the page shows after it. The marks: `run` a program, `test` a
 * test with jest; `file app.ts` is what other snippets of the page import by that name.
 */
const SNIPPET = /(?:<!-- snippet: (run|test|file (\S+)\.ts) -->\s*)?^```ts\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?/gms;

interface Snippet {
  readonly name: string;
  readonly source: string;
  /** As its page shows it; undefined: it is an example of a doc comment, and no file of its own. */
  readonly shown?: string;
  /** `run`: a program; `test`: a test for jest; undefined: it is only compiled. */
  readonly mark?: string | undefined;
  /** The output, if the page shows it. */
  readonly output?: string | undefined;
}

/** The globals of jest and vitest in applications made by `nest new`. */
const TEST_GLOBALS = `import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';\n`;

/** The formats of applications: that of Nest 11's `nest new`, and that of Nest 12's. */
type Format = 'commonjs' | 'module';

/** The `tsconfig.json` that `nest new` of Nest 11 writes for both formats, without the options for output files. */
const STOCK: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  resolvePackageJsonExports: true,
  esModuleInterop: true,
  isolatedModules: true,
  declaration: true,
  emitDecoratorMetadata: true,
  experimentalDecorators: true,
  allowSyntheticDefaultImports: true,
  target: ts.ScriptTarget.ES2023,
  skipLibCheck: true,
  strict: false,
  strictNullChecks: true,
  forceConsistentCasingInFileNames: true,
  noImplicitAny: false,
  strictBindCallApply: false,
  noFallthroughCasesInSwitch: false,
};

/** The function that Node.js wraps around a file that is no ES module. */
const COMMONJS_NAMES = ['exports', 'require', 'module', '__filename', '__dirname'];

/** The snippet as a file of an application whose tests have no globals; ES modules import files by their full names. */
function asFile(source: string, format: Format): string {
  const globals = /^it\b/m.test(source) ? TEST_GLOBALS : '';
  return globals + (format === 'module' ? source.replace(/(from '\.\/[\w-]+)'/g, "$1.js'") : source);
}

async function readSnippets(document: string): Promise<Snippet[]> {
  const page = await readFile(path.join(ROOT, document), 'utf8');
  return [...page.matchAll(SNIPPET)].map(([, mark, file, source, output], i) => ({
    name: file ?? `${document.replace(/\W/g, '-')}-${i + 1}`,
    source: asFile(source ?? '', 'module'),
    shown: source ?? '',
    mark,
    output,
  }));
}

/** The declarations that examples in doc comments take for granted. */
const EXAMPLE_CONTEXT = `
import { Injectable, Module } from '@nestjs/common';
import { Redis } from 'ioredis';
import * as library from 'nestjs-delay-queue';
import { DelayQueueProducer, getDelayQueueProducerToken, InjectDelayQueueProducer } from 'nestjs-delay-queue';
import type {
  DelayedMessage, DelayQueueEvent, DelayQueueObserver, HandlingOutcome, MessageOf, PayloadOf,
} from 'nestjs-delay-queue';
const { again, DeferMessage, DelayedHandler, DelayQueue, DelayQueueError, DelayQueueListener, DelayQueueModule } = library;
const { OnDelayQueueEvent, payload, RejectMessage, RetryMessage } = library;
declare function charge(orderId: string | undefined): Promise<Response>;
declare class ConfigService { getOrThrow(name: string): string; }
declare const producer: library.DelayQueueProducer;
declare const [id, orderId, userId]: string[];
declare const order: { id: string; paid: boolean } | undefined;
declare function remind(order: unknown): Promise<void>;
declare const orders: { id: string }[];
declare const appointment: { id: string; userId: string; startsAt: Date };
declare const appointments: { userId: string; startsAt: Date }[];
declare function isHoliday(date: Date): boolean;
declare function nextWorkday(date: Date): Date;
declare const today: Date;
declare function shopIsOpen(): boolean;
declare const chat: { post(text: string): Promise<void> };
`;

/** The same of those in `packages/redisson`. */
const REDISSON_CONTEXT = `
import {
  jackson, type JavaClasses, JavaValue, json, JsonNumber, kryo5, redisson, redissonQueue,
} from 'nestjs-delay-queue-redisson';
`;

/** The same of those in `lib/testing`. */
const TESTING_CONTEXT = `
import { expect } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { DelayQueueTester, DelayQueueTestingModule } from 'nestjs-delay-queue/testing';
declare class AppModule {}
declare const shop: { place(orderId: string): Promise<void> };
declare const queue: DelayQueueTester;
`;

/** The same of those in `lib/otel`. */
const OTEL_CONTEXT = `
import type { INestApplication } from '@nestjs/common';
import { observeQueues, openTelemetry } from 'nestjs-delay-queue/otel';
declare const app: INestApplication;
`;

/** The same of those in `lib/terminus`. */
const TERMINUS_CONTEXT = `
import { Controller, Get } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { DelayQueueHealthIndicator } from 'nestjs-delay-queue/terminus';
`;

/** The same of those in `lib/diagnosis`. */
const DIAGNOSIS_CONTEXT = `
import { NestFactory } from '@nestjs/core';
import { DelayQueueInspector, examine, FunctionLibraries } from 'nestjs-delay-queue/diagnosis';
`;

/** The same of those in `lib/calendar`. */
const CALENDAR_CONTEXT = `
import { calendar, next } from 'nestjs-delay-queue/calendar';
`;

/** The same of those in `lib/encryption`. */
const ENCRYPTION_CONTEXT = `
import { encryption } from 'nestjs-delay-queue/encryption';
`;

/** The same of those in `lib/export`. */
const EXPORT_CONTEXT = `
import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { DelayQueueExporter } from 'nestjs-delay-queue/export';
declare const context: INestApplicationContext;
`;

/** By folder. */
const CONTEXTS = {
  'packages/redisson/': REDISSON_CONTEXT,
  'lib/testing/': TESTING_CONTEXT,
  'lib/otel/': OTEL_CONTEXT,
  'lib/terminus/': TERMINUS_CONTEXT,
  'lib/diagnosis/': DIAGNOSIS_CONTEXT,
  'lib/calendar/': CALENDAR_CONTEXT,
  'lib/encryption/': ENCRYPTION_CONTEXT,
  'lib/export/': EXPORT_CONTEXT,
};

async function sourcesIn(folder: string): Promise<string[]> {
  const names = await readdir(path.join(ROOT, folder), { recursive: true });
  return names.filter((name) => name.endsWith('.ts')).map((name) => path.posix.join(folder, ...name.split(path.sep)));
}

async function readExamples(file: string): Promise<Snippet[]> {
  const code = await readFile(path.join(ROOT, file), 'utf8');
  return [...code.matchAll(/^ *\* @example\n *\* ```ts\n(.*?)^ *\* ```$/gms)].map(([, example = ''], i) => {
    const body = example.replace(/^ *\* ?/gm, '');
    const [, context] = Object.entries(CONTEXTS).find(([folder]) => file.startsWith(folder)) ?? [];
    const source = `${EXAMPLE_CONTEXT}${context ?? ''}export async function example() {\n${body}\n}\n`;
    return { name: `${file.replace(/\W/g, '-')}-${i + 1}`, source };
  });
}

describe("the documentation's snippets", () => {
  let folder: string;
  /** Beside the compiled library, which a snippet then imports as its users do. */
  let programs: string;
  let snippets: Snippet[];
  const fileOf = ({ name }: Snippet) => path.join(folder, `${name}.ts`);
  const programOf = ({ name }: Snippet) => path.join(programs, `${name}.js`);
  const startSnippet = (snippet: Snippet) =>
    spawn(process.execPath, [programOf(snippet)], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], env: ENVIRONMENT });

  beforeAll(async () => {
    // Inside the project, so that imports resolve as in a user's file.
    await mkdir(path.join(ROOT, 'temp'), { recursive: true });
    folder = await mkdtemp(path.join(ROOT, 'temp', 'snippets-'));
    programs = await mkdtemp(path.join(compiledFolder(), 'snippets-'));
    const documents = ['README.md', PAGE_README, BOARD_README, ...(await docPages())];
    const sources = (await Promise.all(['lib', 'packages/redisson/src'].map(sourcesIn))).flat();
    const found = await Promise.all([...documents.map(readSnippets), ...sources.map(readExamples)]);
    snippets = found.flat();
    await Promise.all(snippets.map((snippet) => writeFile(fileOf(snippet), snippet.source)));
    for (const snippet of snippets.filter(({ mark }) => mark === 'run' || mark?.startsWith('file '))) {
      const { code } = await transformFile(fileOf(snippet), { configFile: path.join(ROOT, '.swcrc') });
      await writeFile(programOf(snippet), code);
    }
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  const readOptions = () => {
    const { config } = ts.readConfigFile(path.join(ROOT, 'tsconfig.json'), ts.sys.readFile.bind(ts.sys)) as {
      config: object;
    };
    return ts.parseJsonConfigFileContent(config, ts.sys, ROOT).options;
  };

  /** Returns the compiler's problems with these files. The library is checked elsewhere, and takes longer than all of them. */
  function problemsOf(files: readonly string[], options: ts.CompilerOptions): string[] {
    const program = ts.createProgram(files, { ...options, noEmit: true });
    const found = files.flatMap((file) => [...ts.getPreEmitDiagnostics(program, program.getSourceFile(file))]);
    return found.map(({ file, messageText }) => {
      return `${path.basename(file?.fileName ?? '')}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
  }

  it("compile with the project's compiler options", () => {
    const options = { ...readOptions(), noUnusedLocals: false, noUnusedParameters: false };
    expect(snippets.length).toBeGreaterThanOrEqual(15);
    expect(problemsOf(snippets.map(fileOf), options)).toEqual([]);
  }, 60_000);

  it.each<[string, Format]>([
    ['CommonJS files', 'commonjs'],
    ['ES modules', 'module'],
  ])(
    'compile as %s with the compiler options of `nest new`',
    async (_what, format) => {
      const application = path.join(folder, format);
      await mkdir(application);
      await writeFile(path.join(application, 'package.json'), JSON.stringify({ type: format }));
      const files = snippets.flatMap(({ name, shown }) => {
        return shown === undefined ? [] : [{ path: path.join(application, `${name}.ts`), text: asFile(shown, format) }];
      });
      await Promise.all(files.map(({ path: file, text }) => writeFile(file, text)));
      // The packages are those of the sources.
      const { paths, pathsBasePath, types } = readOptions();
      const options = { ...STOCK, ...(types && { types }), ...(paths && { paths, pathsBasePath }) };
      const problems = problemsOf(
        files.map(({ path: file }) => file),
        options,
      );
      expect(problems).toEqual([]);
      // Names that the compiler accepts may still clash with those that Node.js gives to each file.
      if (format === 'commonjs') {
        for (const { text } of files) {
          const { outputText } = ts.transpileModule(text, {
            compilerOptions: { ...STOCK, module: ts.ModuleKind.CommonJS },
          });
          expect(() => compileFunction(outputText, COMMONJS_NAMES)).not.toThrow();
        }
      }
      expect(files.length).toBeGreaterThanOrEqual(80);
    },
    120_000,
  );

  it('start with an example that says hello and exits on SIGTERM', async () => {
    const [first] = snippets.filter(({ mark }) => mark === 'run');
    const child = startSnippet(first!);
    let output = '';
    const greeted = new Promise<void>((resolve) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (chunk: Buffer) => {
          output += chunk.toString();
          if (output.includes('Hello, Ada!')) resolve();
        });
      }
    });
    const exited = once(child, 'exit');
    await Promise.race([greeted, exited]);
    child.kill('SIGTERM');
    expect(output).toContain('Hello, Ada!');
    expect(await exited).toEqual([null, 'SIGTERM']);
  }, 60_000);

  it('print their documented output and exit on their own', async () => {
    const shown = snippets.filter(({ mark, output }) => mark === 'run' && output !== undefined);
    expect(shown.length).toBeGreaterThan(0);
    for (const snippet of shown) {
      const child = startSnippet(snippet);
      const [output, problems] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
      const { name } = snippet;
      const { exitCode } = child;
      expect({ name, output, problems, exitCode }).toEqual({ name, output: snippet.output, problems: '', exitCode: 0 });
    }
  }, 120_000);

  it('pass if they are tests', async () => {
    const tests = snippets.filter(({ mark }) => mark === 'test');
    const { default: jestConfig } = (await import(path.join(ROOT, 'test/jest.config.js'))) as { default: object };
    // They need no server and no programs.
    const config = { ...jestConfig, globalSetup: undefined, globalTeardown: undefined };
    const settings = { ...config, rootDir: ROOT, testMatch: tests.map(fileOf) };
    const args = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '--config', JSON.stringify(settings)];
    const { stderr } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env: ENVIRONMENT });
    expect(stderr).toMatch(new RegExp(`^Test Suites: ${tests.length} passed`, 'm'));
    expect(tests.length).toBeGreaterThanOrEqual(5);
  }, 120_000);
});
