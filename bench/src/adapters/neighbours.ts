import { Injectable, type NestInterceptor, type Type, UseInterceptors } from '@nestjs/common';
import type * as Library from '../../../lib/index.js';
import type { Feature } from '../features.js';

/** Another queue of the same application, which uses a feature that the measured queue does not. */
export interface Neighbour {
  /** Options of the module in a process that only offers, or that handles. */
  options(consume: boolean): Library.DelayQueueModuleOptions;
  /** A class whose method handles the messages of the neighbour. */
  handler(library: typeof Library): Type;
  /** Handlers of this process have the neighbour's messages, too, so that all code has seen what they look like. */
  readonly offers: readonly NeighbourOffer[];
}

type OfferedWith = 'type' | 'headers' | 'attempts' | 'backoff' | 'group';
type NeighbourOffer = Pick<Library.OfferRequest, 'payload' | OfferedWith> & { readonly delay: number };

/** A decorator of a handler that takes what it is given. */
type Decorate = (target: object, key: string, descriptor: TypedPropertyDescriptor<() => void>) => void;

const NAME = 'neighbour';
const MESSAGES = 1_000;

const plain = neighbour({});

/** By the feature that it uses. */
export const NEIGHBOURS: Readonly<Record<Feature, Neighbour>> = {
  'no feature': plain,
  // Observers watch every queue. So one watches what is not measured.
  observers: {
    ...plain,
    options: (consume) => ({
      observers: [consume ? { offer: (_offers, next) => next() } : { handle: (_message, next) => next() }],
    }),
  },
  types: neighbour({ offer: { type: 'reminder' }, decorate: (library) => library.DelayedHandler(NAME, 'reminder') }),
  schema: neighbour({
    decorate: ({ DelayedHandler, DelayQueue }) => DelayedHandler(DelayQueue(NAME, anything)),
  }),
  enhancers: neighbour({
    decorate: (library) => (target, key, descriptor) => {
      library.DelayedHandler(NAME)(target, key, descriptor);
      UseInterceptors(passThrough)(target, key, descriptor);
    },
  }),
  partitions: neighbour({ queue: { partitions: 3 } }),
  families: neighbour({ decorate: ({ DelayedHandler }) => DelayedHandler(`${NAME}*`) }),
  rate: neighbour({ queue: { rate: { max: 100_000, per: '1s' } } }),
  batches: neighbour({ decorate: ({ DelayedHandler }) => DelayedHandler(NAME, { batch: 10 }) }),
  headers: neighbour({ offer: { headers: { trace: 'a' } } }),
  retries: neighbour({ offer: { attempts: 3, backoff: { type: 'fixed', delay: '1m' } } }),
  repeats: neighbour({ decorate: ({ DelayedHandler }) => DelayedHandler(NAME, { repeat: { every: '1h' } }) }),
  groups: neighbour({
    queue: { groups: { concurrency: 1000, rate: { max: 100_000, per: '1s' } } },
    offer: { group: 'one' },
  }),
  'global concurrency': neighbour({ queue: { globalConcurrency: 100 } }),
  history: neighbour({ queue: { history: { for: '1h', max: 100 } } }),
  'kept ids': neighbour({ queue: { idsFor: { for: '1h', max: 100 } } }),
};

/** A Standard Schema. */
const anything = {
  '~standard': { version: 1 as const, vendor: 'bench', validate: (value: unknown) => ({ value }) },
};
const passThrough: NestInterceptor = { intercept: (_context, next) => next.handle() };

interface Use {
  readonly queue?: Library.QueueOptions;
  readonly offer?: Pick<Library.OfferRequest, OfferedWith>;
  readonly decorate?: (library: typeof Library) => Decorate;
}

function neighbour({
  queue = {},
  offer = {},
  decorate = ({ DelayedHandler }) => DelayedHandler(NAME),
}: Use): Neighbour {
  return {
    options: () => ({ queues: { [NAME]: queue } }),
    handler(library) {
      @Injectable()
      class NeighbourHandler {
        @decorate(library)
        handle(): void {}
      }
      return NeighbourHandler;
    },
    offers: Array.from({ length: MESSAGES }, (_, i) => ({ payload: { i }, delay: 1, ...offer })),
  };
}

/**
 * Offers to the neighbour, one by one and in a list. Its partitions are known by then: from many offers that wait, V8 concludes that
 * such objects live long, and collecting those of any queue costs more from then on.
 */
export async function greet(producer: Library.DelayQueueProducer, { offers }: Neighbour): Promise<void> {
  await producer.counts(NAME);
  await producer.offerMany(NAME, offers);
  await Promise.all(offers.map(({ payload, delay, ...options }) => producer.offer(NAME, payload, delay, options)));
}
