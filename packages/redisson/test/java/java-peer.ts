import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { buildPeer, type RedissonLine } from './java-build.js';

/** A codec of Redisson; `default` is the one of a client that was told none. */
export type JavaCodec = 'default' | 'string' | 'bytes' | 'kryo5' | 'jackson' | 'json' | 'json of Order';

/** A codec for fixtures, whose class the codecs `json…` are told; those of Jackson 3 exist since Redisson 4. */
export type FixtureCodec = 'json' | 'jackson' | 'json of Jackson 3' | 'jackson of Jackson 3' | 'kryo5';

/** A queue as Java sees it. */
export interface JavaQueue {
  readonly queue: string;
  readonly codec: JavaCodec;
}

/** The source of a value in Java: plain JSON, or one of its samples (see `Samples.java`) by name. */
export type JavaInput = { readonly value: unknown } | { readonly sample: string };

/**
 * What Java made of a payload. `value` is the text of a scalar, ISO 8601 of a date, Base64 of a byte[]; else the elements,
 * entries or fields.
 */
export interface JavaValue {
  readonly type: string;
  readonly value: string | readonly (JavaValue | null)[] | Readonly<Record<string, JavaValue | null>>;
}

/** A value that falls due at an instant, ms since the epoch. */
export interface JavaOffer {
  readonly value: unknown;
  readonly due: number;
}

/** The time that many offers took Java: milliseconds, and processor time in µs. */
export interface JavaCost {
  readonly took: number;
  readonly cpu: number;
}

/** A message that a Java consumer took, and when by its clock, ms since the epoch. */
export interface TakenMessage {
  readonly value: JavaValue;
  readonly at: number;
}

/** An exception of Java: its class as the name, its message. */
export class JavaError extends Error {
  constructor(
    override readonly name: string,
    message: string,
  ) {
    super(message);
  }
}

/** Starts sooner and takes less memory, and never gets as fast as Java can be: not for measurements. */
const SHORT_LIFE = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly class: string; readonly message: string };
  /** Of an event: the queue. */
  readonly message?: string;
  readonly failure?: string;
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A Redisson client in a Java process of its own. Ends with this process at the latest, because its input does. */
export class JavaPeer {
  readonly #messages = new Map<string, TakenMessage[]>();
  readonly #failures: string[] = [];
  readonly #waiting = new Map<number, Waiting>();
  readonly #ended: Promise<unknown>;
  #lastId = 0;
  #hasTimedOut = false;
  #log = '';

  private constructor(private readonly child: ChildProcess) {
    // The end of its output, not of the process: every line has been read by then.
    this.#ended = once(child, 'close').then(() => this.#abandon());
    createInterface(child.stdout!).on('line', (line) => this.#read(JSON.parse(line) as Answer));
    child.stderr!.on('data', (data) => (this.#log += String(data)));
    // A request to a process that has died is answered by its end.
    child.stdin!.on('error', () => {});
  }

  /** Builds the peer if need be, and starts it. `jvmOptions`: by default those of a short life. */
  static async start(line: RedissonLine, jvmOptions: readonly string[] = SHORT_LIFE): Promise<JavaPeer> {
    const classPath = await buildPeer(line);
    const child = spawn('java', [...jvmOptions, '-cp', classPath, 'peer.Peer'], { stdio: ['pipe', 'pipe', 'pipe'] });
    await once(child, 'spawn');
    return new JavaPeer(child);
  }

  /** Redisson's log, from warnings up. */
  get log(): string {
    return this.#log;
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Connects its client; answers Redisson's version. */
  connect(url: string): Promise<string> {
    return this.#ask('connect', { url });
  }

  async encode(codec: JavaCodec, input: JavaInput): Promise<Buffer> {
    return Buffer.from(await this.#ask<string>('encode', { codec, ...input }), 'base64');
  }

  /** Null if Java reads null. */
  decode(codec: JavaCodec, bytes: Buffer): Promise<JavaValue | null> {
    return this.#ask('decode', { codec, bytes: bytes.toString('base64') });
  }

  /** Returns the bytes that Java writes for the value that it has read. */
  async writeAgain(codec: JavaCodec, bytes: Buffer): Promise<Buffer> {
    return Buffer.from(await this.#ask<string>('writeAgain', { codec, bytes: bytes.toString('base64') }), 'base64');
  }

  /** The names of all samples. */
  samples(): Promise<string[]> {
    return this.#ask('samples', {});
  }

  /** The names of all fixtures (see `Fixtures.java`). */
  fixtures(): Promise<string[]> {
    return this.#ask('fixtures', {});
  }

  /** The names of those that only Kryo writes (see `KryoFixtures.java`). */
  kryoFixtures(): Promise<string[]> {
    return this.#ask('kryoFixtures', {});
  }

  async encodeFixture(codec: FixtureCodec, fixture: string): Promise<Buffer> {
    return Buffer.from(await this.#ask<string>('encodeFixture', { codec, fixture }), 'base64');
  }

  /** Tells where what Java reads from bytes differs from a fixture; null if it is equal. Rejects if Java cannot read them. */
  differenceFromFixture(codec: FixtureCodec, fixture: string, bytes: Buffer): Promise<string | null> {
    return this.#ask('differenceFromFixture', { codec, fixture, bytes: bytes.toString('base64') });
  }

  /** Returns the bytes that Java writes for the value that it reads. Rejects if it cannot read the bytes. */
  async readAndWrite(codec: FixtureCodec, bytes: Buffer): Promise<Buffer> {
    return Buffer.from(await this.#ask<string>('readAndWrite', { codec, bytes: bytes.toString('base64') }), 'base64');
  }

  async offer(queue: JavaQueue, input: JavaInput, delay: number): Promise<void> {
    await this.#ask('offer', { ...queue, ...input, delay });
  }

  /** Offers values with so many calls under way at a time. */
  async offerMany(queue: JavaQueue, values: readonly unknown[], delay: number, callers = 1): Promise<void> {
    await this.#ask('offerMany', { ...queue, values, delay, count: callers });
  }

  /** Offers values that fall due at given times, with so many calls under way at a time, and measures that in Java. */
  offerAll(queue: JavaQueue, offers: readonly JavaOffer[], callers: number): Promise<JavaCost> {
    return this.#ask('offerAll', { ...queue, offers, count: callers });
  }

  size(queue: JavaQueue): Promise<number> {
    return this.#ask('size', { ...queue });
  }

  contains(queue: JavaQueue, input: JavaInput): Promise<boolean> {
    return this.#ask('contains', { ...queue, ...input });
  }

  remove(queue: JavaQueue, input: JavaInput): Promise<boolean> {
    return this.#ask('remove', { ...queue, ...input });
  }

  readAll(queue: JavaQueue): Promise<JavaValue[]> {
    return this.#ask('readAll', { ...queue });
  }

  peek(queue: JavaQueue): Promise<JavaValue | null> {
    return this.#ask('peek', { ...queue });
  }

  /** Takes the first delayed message out, due or not. */
  poll(queue: JavaQueue): Promise<JavaValue | null> {
    return this.#ask('poll', { ...queue });
  }

  /** Starts the transfer task, as every method here does that is about delayed messages, and anew after {@link stopTransfer}. */
  async startTransfer(queue: JavaQueue): Promise<void> {
    await this.#ask('startTransfer', { ...queue });
  }

  /** Ends the transfer task; offers that follow start none. */
  async stopTransfer(queue: JavaQueue): Promise<void> {
    await this.#ask('stopTransfer', { ...queue });
  }

  /** Takes one due message, waiting for it so many ms. */
  take(queue: JavaQueue, within: number): Promise<JavaValue | null> {
    return this.#ask('take', { ...queue, within });
  }

  /** Starts so many threads that take due messages, see {@link messages}. */
  async consume(queue: JavaQueue, consumers = 1): Promise<void> {
    await this.#ask('consume', { ...queue, count: consumers });
  }

  async stopConsuming(queue: JavaQueue): Promise<void> {
    await this.#ask('stopConsuming', { ...queue });
  }

  /** The messages that {@link consume} has taken so far. */
  messages(queue: string): readonly TakenMessage[] {
    return this.#messages.get(queue) ?? [];
  }

  /** The errors of {@link consume}, for example because Java cannot read a message. */
  get failures(): readonly string[] {
    return this.#failures;
  }

  /** True if Redisson once got no answer; its connections may be stuck. */
  get hasTimedOut(): boolean {
    return this.#hasTimedOut;
  }

  /** Starts so many threads that take due messages and keep them for {@link collected}: for measurements. */
  async collect(queue: JavaQueue, consumers: number): Promise<void> {
    await this.#ask('collect', { ...queue, count: consumers });
  }

  /** The messages that {@link collect} has taken since the last call. */
  collected(queue: JavaQueue): Promise<TakenMessage[]> {
    return this.#ask('collected', { ...queue });
  }

  /** Lets it shut its client down and waits for its end. */
  async end(): Promise<void> {
    this.child.stdin!.end();
    await this.#ended;
  }

  /** Ends it as a crash would. */
  async kill9(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.#ended;
  }

  #ask<Result>(request: string, details: Record<string, unknown>): Promise<Result> {
    const id = ++this.#lastId;
    const codec = details.codec === 'default' ? undefined : details.codec;
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as Waiting['resolve'], reject });
      if (this.#hasEnded) this.#abandon();
      else this.child.stdin!.write(`${JSON.stringify({ id, do: request, ...details, codec })}\n`);
    });
  }

  get #hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  #read(answer: Answer): void {
    if (answer.message !== undefined) {
      const queue = this.#messages.get(answer.message) ?? [];
      this.#messages.set(answer.message, queue);
      queue.push(answer as unknown as TakenMessage);
    } else if (answer.failure !== undefined) {
      this.#failures.push(JSON.stringify(answer));
    } else {
      this.#answer(answer);
    }
  }

  #answer({ id, result, error }: Answer): void {
    const waiting = this.#waiting.get(id!);
    this.#waiting.delete(id!);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new JavaError(error.class, error.message));
    if (/^org\.redisson\.client\.Redis\w*TimeoutException$/.test(error?.class ?? '')) this.#hasTimedOut = true;
  }

  #abandon(): void {
    for (const { reject } of this.#waiting.values()) reject(new Error(`The Java peer has ended:\n${this.#log}`));
    this.#waiting.clear();
  }
}
