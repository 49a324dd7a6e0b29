import type { Offer, OfferReceipt } from '../store/message-intake.js';
import { placesOf } from '../store/partitioned/partitioning.js';
import { MOST_ROUNDS, type Partitions, Repartitioned, restless } from '../store/partitioned/partitions.js';
import { WriteFailure, type WriteOutcome } from './write-outcome.js';

/** An offer on its way. */
interface Traveller {
  readonly offer: Offer;
  /** Its place in the list of offers. */
  readonly at: number;
}

/** Where an offer goes: to the partitions where its id may be in use, then to the one where it belongs. */
interface Route {
  readonly traveller: Traveller;
  readonly formers: readonly number[];
  readonly last: number;
}

/** A call: offers that go to the same partition. */
interface Call {
  readonly partition: number;
  readonly isLast: boolean;
  readonly routes: Route[];
}

/**
 * Offers messages wherever they belong, by the newest partitioning, and tells what became of each. An id is first
 * offered where it may be in use since the queue had other partitions; such an offer creates nothing. The partitions asked have
 * the partitioning of the caller, or refuse, so nobody who goes by a former one can create the id there afterwards.
 */
export async function placeOffers(partitions: Partitions, offers: readonly Offer[]): Promise<readonly WriteOutcome[]> {
  const outcomes: WriteOutcome[] = [];
  let left: readonly Traveller[] = offers.map((offer, at) => ({ offer, at }));
  for (let round = 0; left.length > 0 && round < MOST_ROUNDS; round++) {
    left = await new Round(partitions, outcomes).run(left);
  }
  fail(left, restless(), outcomes);
  return outcomes;
}

/** One attempt to place offers; by one partitioning throughout. */
class Round {
  readonly #refused: Traveller[] = [];

  constructor(
    private readonly partitions: Partitions,
    private readonly outcomes: WriteOutcome[],
  ) {}

  /** @returns the offers to place anew, because the partitioning has changed */
  async run(travellers: readonly Traveller[]): Promise<readonly Traveller[]> {
    const ready = this.partitions.ready();
    if (ready) await ready;
    const { partitioning } = this.partitions;
    let routes = travellers.map((traveller): Route => {
      const { id, isNew } = traveller.offer;
      const [last, ...formers] = placesOf(id, partitioning);
      return { traveller, formers: isNew ? [] : formers, last: last! };
    });
    while (routes.length > 0) {
      // A store sends the partitioning that is known when it is called, and these routes are by another one.
      if (this.partitions.partitioning !== partitioning)
        return [...this.#refused, ...routes.map(({ traveller }) => traveller)];
      routes = (await Promise.all(callsOf(routes).map((call) => this.#offer(call)))).flat();
    }
    return this.#refused;
  }

  /** @returns the rest of the routes of offers whose ids are not in use here */
  async #offer({ partition, isLast, routes }: Call): Promise<Route[]> {
    const { partitions, outcomes } = this;
    const travellers = routes.map(({ traveller }) => traveller);
    const offers = travellers.map(({ offer }) => offer);
    let receipts: readonly (OfferReceipt | undefined)[];
    try {
      receipts = await (isLast
        ? partitions.stores[partition]!.offer(offers)
        : partitions.offerIfPresent(partition, offers));
    } catch (error) {
      if (!(error instanceof Repartitioned)) fail(travellers, error, outcomes);
      else await this.#refuse(travellers, partitions.reconcile(partition, error));
      return [];
    }
    return routes.flatMap((route, i) => {
      const receipt = receipts[i];
      if (!receipt) return [{ ...route, formers: route.formers.slice(1) }];
      outcomes[route.traveller.at] = receipt;
      return [];
    });
  }

  async #refuse(travellers: readonly Traveller[], reconciled: Promise<void>): Promise<void> {
    try {
      await reconciled;
      this.#refused.push(...travellers);
    } catch (error) {
      fail(travellers, error, this.outcomes);
    }
  }
}

/** The next call of each route; offers that go to the same partition travel together, in their order. */
function callsOf(routes: readonly Route[]): Call[] {
  const calls = new Map<string, Call>();
  for (const route of routes) {
    const isLast = route.formers.length === 0;
    const partition = route.formers[0] ?? route.last;
    const key = `${partition} ${isLast}`;
    const call = calls.get(key) ?? { partition, isLast, routes: [] };
    calls.set(key, call);
    call.routes.push(route);
  }
  return [...calls.values()];
}

function fail(travellers: readonly Traveller[], error: unknown, outcomes: WriteOutcome[]): void {
  for (const { at } of travellers) outcomes[at] = new WriteFailure(error);
}
