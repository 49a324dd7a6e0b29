import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { buildPeer, type RedissonLine } from './java-build.js';

/** A codec of Redisson; `default` is the one of a client without a configured codec. */
export type JavaCodec = 'default' | 'string' | 'bytes' | 'kryo5' | 'jackson' | 'json' | 'json of Order';

/** A queue as Java sees it. */
export interface JavaQueue {
  readonly queue: string;
  readonly codec: JavaCodec;
}

/** A value for Java: plain JSON, or the name of one of its samples (see `Samples.java`). */
export type JavaInput = { readonly value: unknown } | { readonly sample: string };

/**
 * What Java read from a payload. `value` is the text of a scalar, ISO 8601 for a date, Base64 for a byte[]; otherwise it
 * holds the elements, entries or fields.
 */
export interface JavaValue {
  readonly type: string;
  readonly value: string | readonly (JavaValue | null)[] | Readonly<Record<string, JavaValue | null>>;
}

/** A message that a Java consumer took, and when by its own clock, ms since the epoch. */
export interface TakenMessage {
  readonly value: JavaValue;
  readonly at: number;
}

/** A Java exception, with its class as the name. */
export class JavaError extends Error {
  constructor(
    override readonly name: string,
    message: string,
  ) {
    super(message);
  }
}

/** Options for a quick start and little memory. They keep Java from reaching full speed, so they are not for measurements. */
const SHORT_LIFE = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly class: string; readonly message: string };
  /** The queue of an event. */
  readonly message?: string;
  readonly failure?: string;
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A Redisson client in a Java process of its own, which ends with this process at the latest, because its input does. */
export class JavaPeer {
  readonly #messages = new Map<string, TakenMessage[]>();
  readonly #failures: string[] = [];
  readonly #waiting = new Map<number, Waiting>();
  readonly #ended: Promise<unknown>;
  #lastId = 0;
  #log = '';

  private constructor(private readonly child: ChildProcess) {
    // `close` rather than `exit`, because by then every line of output has been read.
    this.#ended = once(child, 'close').then(() => this.#abandon());
    createInterface(child.stdout!).on('line', (line) => this.#read(JSON.parse(line) as Answer));
    child.stderr!.on('data', (data) => (this.#log += String(data)));
    // A request to a dead process is answered by its `close` event.
    child.stdin!.on('error', () => {});
  }

  /** Builds the peer if necessary and starts it. */
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

  /** Connects the client and returns Redisson's version. */
  connect(url: string): Promise<string> {
    return this.#ask('connect', { url });
  }

  async encode(codec: JavaCodec, input: JavaInput): Promise<Buffer> {
    return Buffer.from(await this.#ask<string>('encode', { codec, ...input }), 'base64');
  }

  /** @returns null if Java reads null */
  decode(codec: JavaCodec, bytes: Buffer): Promise<JavaValue | null> {
    return this.#ask('decode', { codec, bytes: bytes.toString('base64') });
  }

  /** The names of all samples. */
  samples(): Promise<string[]> {
    return this.#ask('samples', {});
  }

  async offer(queue: JavaQueue, input: JavaInput, delay: number): Promise<void> {
    await this.#ask('offer', { ...queue, ...input, delay });
  }

  /**
   * Offers values with `callers` calls under way at a time.
   *
   * @returns how long it took by Java's clock, ms
   */
  offerMany(queue: JavaQueue, values: readonly unknown[], delay: number, callers = 1): Promise<number> {
    return this.#ask('offerMany', { ...queue, values, delay, count: callers });
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

  /** Removes and returns the first delayed message, whether or not it is due. */
  poll(queue: JavaQueue): Promise<JavaValue | null> {
    return this.#ask('poll', { ...queue });
  }

  /** Starts the transfer task, like every method about delayed messages, and also again after {@link stopTransfer}. */
  async startTransfer(queue: JavaQueue): Promise<void> {
    await this.#ask('startTransfer', { ...queue });
  }

  /** Stops the transfer task; later offers do not start it. */
  async stopTransfer(queue: JavaQueue): Promise<void> {
    await this.#ask('stopTransfer', { ...queue });
  }

  /** Takes one due message, and waits for it up to `within` ms. */
  take(queue: JavaQueue, within: number): Promise<JavaValue | null> {
    return this.#ask('take', { ...queue, within });
  }

  /** Starts threads that take due messages, see {@link messages}. */
  async consume(queue: JavaQueue, consumers = 1): Promise<void> {
    await this.#ask('consume', { ...queue, count: consumers });
  }

  async stopConsuming(queue: JavaQueue): Promise<void> {
    await this.#ask('stopConsuming', { ...queue });
  }

  /** What {@link consume} has taken so far. */
  messages(queue: string): readonly TakenMessage[] {
    return this.#messages.get(queue) ?? [];
  }

  /** What {@link consume} could not take, for example because Java cannot read it. */
  get failures(): readonly string[] {
    return this.#failures;
  }

  /** Takes up to `messages` due messages with `consumers` threads within `within` ms, and returns them together. */
  drain(queue: JavaQueue, messages: number, consumers = 1, within?: number): Promise<TakenMessage[]> {
    return this.#ask('drain', { ...queue, messages, count: consumers, within });
  }

  /** Lets the peer shut its client down, and waits until it has ended. */
  async end(): Promise<void> {
    this.child.stdin!.end();
    await this.#ended;
  }

  /** Ends the peer as a crash would. */
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
  }

  #abandon(): void {
    for (const { reject } of this.#waiting.values()) reject(new Error(`The Java peer has ended:\n${this.#log}`));
    this.#waiting.clear();
  }
}
