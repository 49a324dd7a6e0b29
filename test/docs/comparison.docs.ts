import { describe, expect, test } from '@jest/globals';
import { codesIn, readPage, rowsOf } from './pages.js';

const dependenciesOf = async (manifest: string) =>
  (JSON.parse(await readPage(manifest)) as { dependencies: Record<string, string> }).dependencies;
const dependencies = await dependenciesOf('bench/package.json');
const ofNest = await dependenciesOf('bench/nestjs-bullmq/package.json');
/** The version of a peer that `npm run test:peers` and the benchmark install. */
const versionOf = (peer: string) => /^\d+\.\d+/.exec(dependencies[peer]!)![0];

describe('the comparison with peers', () => {
  test('gives a date and the tested versions in the README', async () => {
    const readme = await readPage('README.md');
    const [head] = /^\|.*this package.*$/m.exec(readme)!;
    expect(head).toContain(`[BullMQ](https://docs.bullmq.io) ${versionOf('bullmq')} `);
    expect(head).toContain(`[bee-queue](https://github.com/bee-queue/bee-queue) ${versionOf('bee-queue')} `);
    expect(readme).toMatch(/^As of [A-Z][a-z]+ 20\d\d\./m);
  });

  test('gives a date and the tested versions on the BullMQ page', async () => {
    const page = await readPage('docs/migrating-from-bullmq.md');
    expect(ofNest.bullmq).toBe(dependencies.bullmq);
    expect(page).toContain(
      `bullmq ${versionOf('bullmq')} and \`@nestjs/bullmq\` ${ofNest['@nestjs/bullmq']!.split('.')[0]},`,
    );
    expect(page).toMatch(/in [A-Z][a-z]+ 20\d\d\.$/m);
  });

  test('gives the documented defaults of the options on the BullMQ page', async () => {
    const page = await readPage('docs/migrating-from-bullmq.md');
    const rows = rowsOf(await readPage('docs/options.md'));
    const defaultOf = (option: string) => {
      const row = rows.find(([name]) => name === `\`${option}\``)!;
      return codesIn(row.at(-1)!)[0]!.replace(/['_]/g, '');
    };
    for (const option of ['attempts', 'concurrency', 'lease', 'shutdownTimeout', 'maxDeadLetters']) {
      const [, said] = new RegExp(`^\\|[^|]*\\| \`${option}\`[^|]*?, default ([\\d,]+(?: s)?)`, 'm').exec(page)!;
      expect(said?.replace(/[ ,]/g, '')).toBe(defaultOf(option));
    }
  });
});
