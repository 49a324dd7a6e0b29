import type { MessageStore } from './message-store.js';

/** One reading from the stores of a queue. Each of them must answer. */
export class Reading {
  readonly stores: MessageStore[];

  constructor(stores: readonly MessageStore[]) {
    this.stores = [...stores];
  }

  /** Adds a store on the server of the first one. */
  add(store: MessageStore): void {
    this.stores.push(store);
  }

  /** Asks every store. @returns the answers, in the order of the stores */
  async all<Answer>(call: (store: MessageStore) => Promise<Answer>): Promise<Answer[]> {
    const answers = await Promise.all([...this.stores.keys()].map((place) => this.one(place, call)));
    return answers.flatMap((answer) => (answer === undefined ? [] : [answer]));
  }

  /** Asks one store. @returns undefined if it does not answer, and the result can do without it */
  one<Answer>(place: number, call: (store: MessageStore) => Promise<Answer>): Promise<Answer | undefined> {
    return call(this.stores[place]!);
  }
}
