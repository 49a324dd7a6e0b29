import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const ROOT = new URL('../../', import.meta.url);
const PAGE = readFileSync(new URL('sample-app/public/index.html', ROOT), 'utf8');
const DOCS = 'https://github.com/nestjs-delay-queue/nestjs-delay-queue/blob/main/';

interface Excerpt {
  readonly source: string;
  readonly lines: readonly string[];
}

const excerpts: Excerpt[] = [...PAGE.matchAll(/<pre\s+data-source="([^"]+)"[^>]*><code>([^]*?)<\/code>/g)].map(
  ([, source, code]) => ({ source: source!, lines: unescape(code!).split('\n') }),
);

describe('the code that the sample page shows', () => {
  it('appears in each card', () => {
    expect(PAGE.match(/<details class="code">/g)).toHaveLength(PAGE.match(/class="card( orders-card)?"/g)!.length);
    expect(excerpts.length).toBeGreaterThanOrEqual(6);
  });

  it.each(excerpts)('matches the code that runs: $source', ({ source, lines }) => {
    const running = readFileSync(new URL(source, ROOT), 'utf8').split('\n');
    const starts = running.flatMap((line, i) => (line.trim() === lines[0]!.trim() ? [i] : []));
    const found = starts.map((start) => {
      const indent = ' '.repeat(running[start]!.length - running[start]!.trimStart().length);
      return running.slice(start, start + lines.length).map((line) => line.replace(indent, ''));
    });
    expect(found).toContainEqual(lines);
  });

  it('comes with links to guides and headings that exist', () => {
    const links = [...PAGE.matchAll(new RegExp(`href="${DOCS}([^"#]+)(?:#([^"]+))?"`, 'g'))];
    expect(links.length).toBeGreaterThanOrEqual(6);
    for (const [, file, anchor] of links) {
      expect(existsSync(new URL(file!, ROOT))).toBe(true);
      if (anchor !== undefined) expect(headings(readFileSync(new URL(file!, ROOT), 'utf8'))).toContain(anchor);
    }
  });
});

function unescape(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
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
