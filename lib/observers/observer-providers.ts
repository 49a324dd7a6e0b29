import type { Provider } from '@nestjs/common';
import { Events } from '../events/events.js';
import { INSTANCE } from '../handler/instance-names.js';
import type { ResolvedModuleOptions } from '../options/module-options-schema.js';
import { CLOCK, HOOKS, RESOLVED_OPTIONS } from '../runtime/delay-queue-tokens.js';
import type { Clock } from '../timing/clock.js';
import { ListenerExplorer } from './listener-explorer.js';
import { nameOf, Observers } from './observers.js';

/** The observers given as options, and the listeners found in the application. */
export const observerProviders: Provider[] = [
  {
    provide: Observers,
    useFactory: (events: Events, clock: Clock, { observers }: ResolvedModuleOptions, instance: string) => {
      const all = new Observers(events, clock, instance || undefined);
      for (const [i, observer] of observers.entries()) all.add(observer, nameOf(observer, `observers[${i}]`));
      return all;
    },
    inject: [Events, CLOCK, RESOLVED_OPTIONS, INSTANCE],
  },
  { provide: HOOKS, useExisting: Observers },
  ListenerExplorer,
];
