import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const ROOT = new URL('../../', import.meta.url);
const PUBLIC = new URL('sample-app/public/', ROOT);
const PARTS = ['index.html', ...filesIn('cards').map((file) => `cards/${file}`)];
const PAGE = PARTS.map((part) => readFileSync(new URL(part, PUBLIC), 'utf8')).join('\n');
const EXCERPTS = filesIn('excerpts').map((file) => {
  const [source, ...lines] = readFileSync(new URL(`excerpts/${file}`, PUBLIC), 'utf8')
    .trimEnd()
    .split('\n');
  return { name: file.replace('.txt', ''), source: source!, lines };
});
/** The excerpts that cards name, in the page or in a module. */
const SHOWN = [...PAGE.matchAll(/(?:data-excerpts="|excerpts: ')([\w -]+)/g)].flatMap(([, names]) => names!.split(' '));
const GUIDES = [...PAGE.matchAll(/(?:\/docs\/|')([\w-]+\.md)(?:#([\w-]+))?/g)];

describe('the sample page', () => {
  it('shows each excerpt in a card, and no others', () => {
    expect(EXCERPTS.length).toBeGreaterThanOrEqual(16);
    expect([...new Set(SHOWN)].sort()).toEqual(EXCERPTS.map(({ name }) => name).sort());
  });

  it.each(EXCERPTS)('shows the code that runs: $name', ({ source, lines }) => {
    const running = readFileSync(new URL(source, ROOT), 'utf8').split('\n');
    const starts = running.flatMap((line, i) => (line.trim() === lines[0]!.trim() ? [i] : []));
    const found = starts.map((start) => {
      const indent = ' '.repeat(running[start]!.length - running[start]!.trimStart().length);
      return running.slice(start, start + lines.length).map((line) => line.replace(indent, ''));
    });
    expect(found).toContainEqual(lines);
  });

  it('links only to existing guides and headings', () => {
    expect(GUIDES.length).toBeGreaterThanOrEqual(12);
    for (const [, page, anchor] of GUIDES) {
      const file = `docs/${page}`;
      expect(existsSync(new URL(file, ROOT))).toBe(true);
      if (anchor !== undefined) expect(headings(readFileSync(new URL(file, ROOT), 'utf8'))).toContain(anchor);
    }
  });
});

function filesIn(folder: string): string[] {
  return readdirSync(new URL(folder, PUBLIC)).sort();
}

/** The anchors that GitHub gives to headings. */
function headings(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
}
