import { execFile } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { promisify } from 'node:util';
import { readPage, ROOT } from './pages.js';

/** The arrows of a Mermaid flowchart, by the labels of their ends: the ids of nodes and their order do not count. */
function arrowsOf(flowchart: string): string[] {
  const labels = new Map([...flowchart.matchAll(/^(\w+)\["(.*?)"\]$/gm)].map(([, id, label]) => [id, label]));
  return [...flowchart.matchAll(/^(\w+)-->(\w+)$/gm)]
    .map(([, from, to]) => `${labels.get(from)} → ${labels.get(to)}`)
    .sort();
}

test('the architecture page shows the imports that npm run graph prints', async () => {
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'graph'], { cwd: ROOT });
  const [, shown = ''] = /^```mermaid\n(flowchart .*?)^```$/ms.exec(await readPage('docs/architecture.md')) ?? [];
  expect(arrowsOf(stdout).length).toBeGreaterThan(20);
  expect(arrowsOf(shown)).toEqual(arrowsOf(stdout));
}, 180_000);
