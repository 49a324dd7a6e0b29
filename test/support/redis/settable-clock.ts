import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unpackPackage } from './debian-package.js';
import { published } from './provisioned.js';

const PACKAGE = 'libfaketime';
const LIBRARY = 'libfaketimeMT.so.1';

/**
 * The wall clock of a server, which can be set while it runs; its monotonic clock goes on. The library that does it is
 * preloaded into a server of this machine.
 */
export class SettableClock {
  readonly #folder = mkdtempSync(join(tmpdir(), 'settable-clock-'));
  readonly #file = join(this.#folder, 'offset');
  /** The environment that the server needs. */
  readonly env: Readonly<Record<string, string>>;

  /** @throws if the library cannot be had here */
  constructor() {
    if (published()?.runtime?.kind !== 'binary') throw new Error('There is no Redis binary whose clock could be set.');
    this.set(0);
    this.env = {
      // jemalloc asks for the time while the library starts, which ends both. Named here, libc gives out the memory instead.
      LD_PRELOAD: `${this.#unpack()}:libc.so.6`,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      DONT_FAKE_MONOTONIC: '1',
    };
  }

  /** @param offset - how far from the right time the clock is from now on, in whole seconds */
  set(offset: number): void {
    // In one step, because the server reads the file whenever it looks at its clock.
    writeFileSync(`${this.#file}.new`, `${offset < 0 ? '' : '+'}${offset}\n`);
    renameSync(`${this.#file}.new`, this.#file);
  }

  /** After the server has ended. */
  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }

  #unpack(): string {
    unpackPackage(PACKAGE, this.#folder);
    const files = readdirSync(this.#folder, { recursive: true }) as string[];
    const library = files.find((file) => file.endsWith(`/${LIBRARY}`));
    if (library === undefined) throw new Error(`${PACKAGE} has no ${LIBRARY}.`);
    return join(this.#folder, library);
  }
}
