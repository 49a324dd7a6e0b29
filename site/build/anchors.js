import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** The anchor of a heading, as GitHub makes it: links between the pages hold in both places. */
export const githubAnchor = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');

/** VitePress rejects links to pages that do not exist; this rejects those to headings. */
export function rejectBrokenAnchors(outDir, base = '/') {
  const names = readdirSync(outDir, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'));
  const pages = new Map(names.map((name) => [addressOf(name), readFileSync(join(outDir, name), 'utf8')]));
  const broken = [...pages].flatMap(([page, html]) =>
    linksOf(html, base)
      .filter(({ path, anchor }) => !hasAnchor(pages.get(path || page), anchor))
      .map(({ path, anchor }) => `${page}: no heading ${path}#${anchor}`),
  );
  if (broken.length > 0) throw new Error(`Dead links to headings:\n${[...new Set(broken)].join('\n')}`);
}

const addressOf = (name) =>
  `/${name
    .split(sep)
    .join('/')
    .replace(/(^|\/)index\.html$/, '$1')
    .replace(/\.html$/, '')}`;

/** The links of a page to headings of the site. */
function linksOf(html, base) {
  const targets = [...html.matchAll(/<a [^>]*?href="([^"]*)#([^"]+)"/g)];
  return targets
    .filter(([, path]) => path === '' || path.startsWith('/'))
    .map(([, path, anchor]) => ({
      path: path && `/${relative(base, path)}${path.endsWith('/') && path !== base ? '/' : ''}`,
      anchor: decodeURIComponent(anchor),
    }));
}

const hasAnchor = (html, anchor) => html === undefined || html.includes(`id="${anchor}"`);
