import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { until } from '../../../../../test/support/until.js';
import { buildPeer, type RedissonLine } from '../java-build.js';

const STAGE = fileURLToPath(new URL('./Stage.java', import.meta.url));

/** The imports that an editor would add to the snippets. */
const IMPORTS = [
  'package com.shop;',
  'import java.io.*;',
  'import java.util.concurrent.*;',
  'import org.redisson.*;',
  'import org.redisson.api.*;',
  'import org.redisson.client.codec.*;',
  'import org.redisson.codec.*;',
  'import org.slf4j.*;',
].join('\n');

/** Snippets of Java, compiled and run as they are printed. */
export class JavaStage {
  readonly #lines: string[] = [];
  readonly #closed: Promise<unknown>;
  #log = '';

  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {
    this.#closed = once(child, 'close');
    createInterface(child.stdout!).on('line', (line) => this.#lines.push(line));
    child.stderr!.on('data', (data) => (this.#log += String(data)));
  }

  static async start(line: RedissonLine, snippets: readonly string[], url: string): Promise<JavaStage> {
    const folder = mkdtempSync(join(tmpdir(), 'pairs-'));
    const sources = join(folder, 'com', 'shop');
    mkdirSync(sources, { recursive: true });
    copyFileSync(STAGE, join(sources, 'Stage.java'));
    for (const snippet of snippets) {
      const [, name] = /public class (\w+)/.exec(snippet)!;
      writeFileSync(join(sources, `${name}.java`), `${IMPORTS}\n${snippet}`);
    }
    const libraries = await buildPeer(line);
    await promisify(execFile)('javac', ['-parameters', '-cp', libraries, '-d', folder, join(sources, '*.java')], {
      shell: true,
    });
    const classPath = [folder, libraries].join(delimiter);
    const child = spawn('java', ['-Xmx256m', '-XX:TieredStopAtLevel=1', '-cp', classPath, 'com.shop.Stage', url]);
    const stage = new JavaStage(child, folder);
    await stage.says('ready');
    return stage;
  }

  /** The log so far. */
  get log(): string {
    return this.#log;
  }

  tell(line: string): void {
    this.child.stdin!.write(`${line}\n`);
  }

  async says(line: string): Promise<void> {
    const isOver = () => this.#lines.includes(line) || this.child.exitCode !== null;
    await until(isOver, { within: 30_000 });
    if (!this.#lines.includes(line)) throw new Error(`Java has ended:\n${this.#log}`);
  }

  /** Shuts Redisson down, and waits for the end of the process, which no thread must keep. */
  async end(): Promise<void> {
    this.child.stdin!.end();
    await this.#closed;
    rmSync(this.folder, { recursive: true });
  }
}
