import type { DynamicModule } from '@nestjs/common';
import type { Clock } from '../../../lib/timing/clock.js';
import type { ResolvedModuleOptions } from '../../../lib/options/module-options-schema.js';
import { CLOCK, RESOLVED_OPTIONS, STORES } from '../../../lib/runtime/delay-queue-tokens.js';
import { Events } from '../../../lib/events/events.js';
import { DelayQueueModule, type DelayQueueModuleOptions } from '../../../lib/index.js';
import { GroupRouter } from '../../../lib/groups/group-router.js';
import { createStores, type Stores } from '../../../lib/runtime/create-stores.js';
import { routerOf } from '../../../lib/runtime/open-queue.js';
import type { MessageStore } from '../../../lib/store/message-store.js';
import type { ClaimJournal } from './claim-journal.js';

/** The module as users have it, but its stores record claims and settles in a journal. */
export function journalledModule(options: DelayQueueModuleOptions, claims: ClaimJournal): DynamicModule {
  const module = DelayQueueModule.forRoot(options);
  const stores = {
    provide: STORES,
    useFactory: (resolved: ResolvedModuleOptions, clock: Clock, events: Events): Stores => {
      const real = createStores(resolved, { clock, events });
      return {
        ...real,
        open: (queue, limits) => {
          const router = real.open(queue, limits);
          const ofGroups = router instanceof GroupRouter ? router.groups : undefined;
          const listenTo = (store: MessageStore) => claims.listenTo(queue, store);
          const partitions = router.stores.filter((store) => store !== ofGroups).map(listenTo);
          return routerOf({ partitions, groups: ofGroups && listenTo(ofGroups) });
        },
      };
    },
    inject: [RESOLVED_OPTIONS, CLOCK, Events],
  };
  return { ...module, providers: [...(module.providers ?? []), stores] };
}
