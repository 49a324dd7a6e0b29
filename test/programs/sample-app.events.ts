import { until } from '../support/until.js';

export interface ReceivedEvent {
  readonly type: string;
  readonly data: Record<string, unknown>;
  /** By this machine's clock, ms. */
  readonly receivedAt: number;
}

export class EventReader {
  readonly events: ReceivedEvent[] = [];
  readonly #abort = new AbortController();
  #text = '';

  /** Listens, and waits for the first snapshot. */
  static async open(url: string): Promise<EventReader> {
    const reader = new EventReader();
    const response = await fetch(url, { signal: reader.#abort.signal });
    void reader.#read(response.body as AsyncIterable<Uint8Array> | null);
    await reader.until('snapshot');
    return reader;
  }

  close(): void {
    this.#abort.abort();
  }

  of(type: string): ReceivedEvent[] {
    return this.events.filter((event) => event.type === type);
  }

  /** Waits for an event of the given type with these values in its data. */
  async until(type: string, values: Record<string, unknown> = {}, within = 5000): Promise<ReceivedEvent> {
    const find = () =>
      this.of(type).find(({ data }) => Object.entries(values).every(([name, value]) => data[name] === value));
    await until(find, { within });
    return find()!;
  }

  async #read(body: AsyncIterable<Uint8Array> | null): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of body ?? []) this.#take(decoder.decode(chunk, { stream: true }));
    } catch {
      // Either side has closed the stream.
    }
  }

  #take(text: string): void {
    const blocks = (this.#text + text).split('\n\n');
    this.#text = blocks.pop() ?? '';
    for (const block of blocks) {
      const type = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (type === undefined || data === undefined) continue;
      this.events.push({ type, data: JSON.parse(data) as Record<string, unknown>, receivedAt: Date.now() });
    }
  }
}
