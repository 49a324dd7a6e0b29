import type { Socket } from 'node:net';
import { DelayLine, type Drag } from './delay-line.js';
import type { Fate } from './faults.js';
import { RequestParser, type Request } from './request-parser.js';

/** What a connection asks about itself while bytes come by. */
export interface Weather {
  isDark(connection: ProxiedConnection): boolean;
  dragOn(connection: ProxiedConnection): Drag;
  judge(request: Request, connection: ProxiedConnection): Fate;
}

/** A client's connection to the proxy together with the proxy's own to the server. */
export class ProxiedConnection {
  /** The name that the client has set by `CLIENT SETNAME` or `HELLO … SETNAME`; empty before. */
  name = '';
  /** The commands it has sent so far, upper case. */
  readonly sent = new Set<string>();
  /** From which moment on nothing passes any more, by the monotonic clock. */
  darkSince: number | undefined;
  readonly #parser = new RequestParser();
  readonly #requests: Request[] = [];
  readonly #toServer: DelayLine;
  readonly #toClient: DelayLine;
  #waiting = false;
  #isCutOff = false;
  #heldReplies: Buffer[] | undefined;

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    private readonly weather: Weather,
  ) {
    this.#toServer = new DelayLine(server);
    this.#toClient = new DelayLine(client);
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      // The one side's end is the other's, and told of there.
      socket.on('error', () => undefined);
    }
    client.on('data', (chunk: Buffer) => this.#onClientData(chunk));
    server.on('data', (chunk: Buffer) => this.#onServerData(chunk));
    client.on('close', () => this.#onClose(server));
    server.on('close', () => this.#onClose(client));
  }

  /** True if the client still has its end. */
  get isOpen(): boolean {
    return !this.client.destroyed;
  }

  /** Keeps answers from the client until {@link releaseReplies}. */
  holdReplies(): void {
    this.#heldReplies ??= [];
  }

  releaseReplies(): void {
    const held = this.#heldReplies ?? [];
    this.#heldReplies = undefined;
    for (const bytes of held) this.#onServerData(bytes);
  }

  /** Ends both sides at once, as a router does that forgot the connection (RST). */
  reset(): void {
    this.client.resetAndDestroy();
    this.server.resetAndDestroy();
  }

  /** Ends both sides. */
  destroy(): void {
    this.client.destroy();
    this.server.destroy();
  }

  #onClientData(chunk: Buffer): void {
    if (this.#isDark()) return;
    this.#requests.push(...this.#parser.push(chunk));
    this.#forward();
  }

  #forward(): void {
    while (!this.#waiting && this.#requests.length > 0) {
      const request = this.#requests.shift()!;
      this.#learnFrom(request);
      if (this.#isDark()) return;
      const fate = this.weather.judge(request, this);
      if (typeof fate === 'object' && 'wait' in fate) this.#waitFor(fate.wait, request);
      else if (typeof fate === 'object' && 'late' in fate) this.#cutOff(fate.late, request);
      else this.#send(fate === 'pass' ? request.bytes : fate.instead);
    }
  }

  #waitFor(release: Promise<void>, request: Request): void {
    this.#waiting = true;
    void release.then(() => {
      this.#waiting = false;
      this.#send(request.bytes);
      this.#forward();
    });
  }

  #cutOff(release: Promise<void>, request: Request): void {
    const held = [request, ...this.#requests.splice(0)].map(({ bytes }) => bytes);
    this.#isCutOff = true;
    this.client.resetAndDestroy();
    void release.then(() => {
      // Not before the first answer: a server that is held up forgets the commands of a client that has gone.
      this.server.once('data', () => this.server.end());
      this.#send(Buffer.concat(held));
    });
  }

  #send(bytes: Buffer): void {
    if (!this.#isDark()) this.#toServer.send(bytes, this.weather.dragOn(this));
  }

  #onServerData(bytes: Buffer): void {
    if (this.#isDark()) return;
    if (this.#heldReplies) this.#heldReplies.push(bytes);
    else this.#toClient.send(bytes, this.weather.dragOn(this));
  }

  /** In the dark nobody learns of the other side's end either: the server keeps a half-open connection. */
  #onClose(other: Socket): void {
    if (!this.#isDark() && !this.#isCutOff) other.destroy();
  }

  /** For good: after a loss the bytes that follow would make no sense. */
  #isDark(): boolean {
    if (this.darkSince === undefined && this.weather.isDark(this)) this.darkSince = performance.now();
    return this.darkSince !== undefined;
  }

  #learnFrom({ command, args }: Request): void {
    this.sent.add(command);
    const words = args.map((arg) => (arg.length > 256 ? '' : arg.toString()));
    const at = words.findIndex((word) => word.toUpperCase() === 'SETNAME');
    if (at >= 0 && (command === 'HELLO' || (command === 'CLIENT' && at === 0))) this.name = words[at + 1] ?? '';
  }
}
