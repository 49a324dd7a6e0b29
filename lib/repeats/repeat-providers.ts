import type { Provider } from '@nestjs/common';
import { REPEATS, START_TASK } from '../runtime/delay-queue-tokens.js';
import { DeclaredRepeats } from './declared-repeats.js';
import { Repeats } from './repeats.js';

/** Repeating messages: those that producers offer, and those that handlers declare. */
export const repeatProviders: Provider[] = [
  Repeats,
  { provide: REPEATS, useExisting: Repeats },
  { provide: START_TASK, useClass: DeclaredRepeats },
];
