import type { MessageStore } from '../store/message-store.js';
import type { Offer } from '../store/producer-store.js';
import type { Destination, Incomplete, QueuePart, Reading, Router } from '../store/router.js';

/** Routes messages with groups to a separate store on partition 0's server. Leaves all other messages to the plain router. */
export class GroupRouter implements Router {
  readonly check: Router['check'];
  readonly changes: Router['changes'];
  #others: readonly MessageStore[] | undefined;
  #stores: readonly MessageStore[] = [];

  /**
   * @param plain - routes messages without a group
   * @param groups - the store for messages with a group
   */
  constructor(
    private readonly plain: Router,
    readonly groups: MessageStore,
  ) {
    this.check = plain.check;
    this.changes = plain.changes;
  }

  get stores(): readonly MessageStore[] {
    if (this.#others !== this.plain.stores) {
      this.#others = this.plain.stores;
      this.#stores = [...this.#others, this.groups];
    }
    return this.#stores;
  }

  get idEnding(): Router['idEnding'] {
    return this.plain.idEnding;
  }

  readonly route = (offer: Offer): Destination => (offer.group === undefined ? this.plain.route(offer) : this.groups);

  async lookUp<Answer>(
    id: string,
    ask: (store: MessageStore) => Promise<Answer>,
    isFound: (answer: Answer) => boolean = Boolean,
  ): Promise<Answer> {
    const answer = await this.plain.lookUp(id, ask, isFound);
    return isFound(answer) ? answer : ask(this.groups);
  }

  read<Result extends object>(look: (reading: Reading) => Promise<Result>): Promise<Result & Incomplete> {
    return this.plain.read((reading) => {
      reading.add(this.groups);
      return look(reading);
    });
  }

  withAll<Result>(work: (parts: readonly QueuePart[]) => Promise<Result>): Promise<Result> {
    return this.plain.withAll((parts) => work([...parts, { store: this.groups, name: 'the messages with groups' }]));
  }
}
