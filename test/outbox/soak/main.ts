/**
 * Kills relays, the database and Redis while transactions offer through the outbox, and judges the run:
 * `npm run soak:outbox -- --transactions 100000 --kills 200`.
 */
import { parseArgs } from 'node:util';
import { setUpPrograms } from '../../support/run-program.js';
import { runSoak } from './run-soak.js';
import type { Control, SoakSettings } from './settings.js';

const { values } = parseArgs({
  options: {
    transactions: { type: 'string', default: '100000' },
    kills: { type: 'string', default: '200' },
    writers: { type: 'string', default: '8' },
    library: { type: 'string', default: 'pg' },
    control: { type: 'string', default: 'none' },
  },
});
const settings: SoakSettings = {
  library: values.library as SoakSettings['library'],
  transactions: Number(values.transactions),
  writers: Number(values.writers),
  kills: Number(values.kills),
  control: values.control as Control,
};

const removePrograms = setUpPrograms();
try {
  const { lost, ghosts, doubled, ...result } = await runSoak(settings, (line) => console.log(line));
  console.log(JSON.stringify({ ...settings, ...result }, null, 2));
  for (const [name, found] of Object.entries({ lost, ghosts, doubled })) {
    console.log(
      `${name}: ${found.length}${found
        .slice(0, 5)
        .map((line) => `\n  ${line}`)
        .join('')}`,
    );
  }
  process.exitCode = lost.length + ghosts.length + doubled.length === 0 ? 0 : 1;
} finally {
  removePrograms();
}
process.exit();
