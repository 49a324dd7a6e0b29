import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A collector for an application: accepts traces and metrics by OTLP over HTTP, and keeps them unchanged. */
export class OtlpReceiver {
  readonly #bodies = new Map<string, string>();
  readonly #server = createServer((request, response) => {
    void this.#take(request).then(() => response.end());
  });

  static async start(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Everything sent to a path. Names are text in it, whatever the encoding. */
  received(path: '/v1/traces' | '/v1/metrics'): string {
    return this.#bodies.get(path) ?? '';
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #take(request: IncomingMessage): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url ?? '';
    this.#bodies.set(path, (this.#bodies.get(path) ?? '') + Buffer.concat(chunks).toString('latin1'));
  }
}
