import { expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS } from '../soak-settings.js';
import { contentOf, idOf, readContent } from './content.js';
import { planMessage } from './message-plan.js';

const NUMBERS = Array.from({ length: 20 }, (_, i) => i + 1);

test.each(['native', 'redisson'] as const)(
  'content is intact whatever the order of its fields, but not if a value differs: layout %s',
  (layout) => {
    const workload = { ...DEFAULT_SETTINGS, layout };
    const n = NUMBERS.find((number) => planMessage(workload, number).queue === 'orders')!;
    const { payload, headers } = contentOf(workload, n);
    const { version, text } = payload as { version: number; text: string };
    const received = { id: idOf(n), headers };
    expect(readContent(workload, { ...received, payload: { text, version, n } })).toMatchObject({ intact: true });
    const damaged = { text: `${text} `, version, n };
    expect(readContent(workload, { ...received, payload: damaged })).toMatchObject({ intact: false });
  },
);
