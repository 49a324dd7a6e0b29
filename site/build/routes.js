import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { ROOT } from './folders.js';

const { repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

export const REPOSITORY = repository.url.replace(/^git\+(.*)\.git$/, '$1');

/** Where the project's files are on the web. */
const FILES = `${REPOSITORY}/blob/main/`;

/** Pages outside `docs`, by their path in the repository. */
const OTHERS = {
  'site/pages/index.md': 'index.md',
  'README.md': 'start.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
};

/** Folders whose pages are on the site: the path in the repository, and that on the site. */
const FOLDERS = [
  [/^docs\/internals\//, 'internals/'],
  [/^docs\//, 'guide/'],
  [/^packages\/([^/]+)\/README\.md$/, 'packages/$1.md'],
  [/^packages\/([^/]+)\/docs\//, 'packages/$1/'],
  [/^packages\/([^/]+)\/([\w-]+)\/README\.md$/, 'packages/$1/$2.md'],
  [/^examples\/README\.md$/, 'examples/index.md'],
  [/^examples\/([^/]+)\/README\.md$/, 'examples/$1.md'],
  [/^site\/api\//, 'api/'],
];

/** What is in these is written by other programs, or by nobody of this project. */
const SKIPPED = /(^|\/)(node_modules|dist|temp|coverage|\.[^/]+)(\/|$)|^docs\/api/;

/** @returns the path of a page on the site, or undefined if it is not on it */
function routeOf(page) {
  if (OTHERS[page]) return OTHERS[page];
  const folder = FOLDERS.find(([pattern]) => pattern.test(page));
  return folder && page.replace(...folder).replace(/README\.md$/, 'index.md');
}

function pagesIn(folder) {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => posix.join(folder, name.split(sep).join('/')))
    .filter((name) => name.endsWith('.md') && !SKIPPED.test(name));
}

/** The pages of the site, by their path in the repository. */
export const ROUTES = Object.fromEntries(
  [...Object.keys(OTHERS), ...['docs', 'packages', 'examples', 'site/api'].flatMap(pagesIn)]
    .map((page) => [page, routeOf(page)])
    .filter(([, route]) => route !== undefined),
);

const PLACES = ['docs', 'packages', 'examples', 'site'];

/** What VitePress must not look into: other folders, and pages without a route. */
export const EXCLUDED = [
  ...readdirSync(ROOT)
    .filter((name) => !PLACES.includes(name))
    .flatMap((name) => (name.endsWith('.md') ? name : `${name}/**`)),
  ...PLACES.flatMap(pagesIn),
  'docs/{api,api-report}/**',
].filter((page) => !(page in ROUTES));

/** As a reader's browser asks for it. */
export const addressOf = (route) => `/${route.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '')}`;

/**
 * Where a link leads on the site. The pages link to each other as GitHub reads them, from file to file; what has no page here
 * leads to GitHub.
 *
 * @param href - as it is written
 * @param page - the page that it is on, by its path in the repository
 */
export function resolveLink(href, page) {
  const isFile = href.startsWith(FILES);
  if (!isFile && /^([a-z]+:|#|\/)/i.test(href)) return href;
  const [path, anchor] = (isFile ? href.slice(FILES.length) : href).split('#');
  const file = isFile ? path : posix.join(posix.dirname(page), path);
  const route = ROUTES[file];
  return `${route ? addressOf(route) : FILES + file}${anchor === undefined ? '' : `#${anchor}`}`;
}

/** Where the package registry finds the pictures of a README. */
const PICTURES = `${REPOSITORY.replace('//github.com/', '//raw.githubusercontent.com/')}/main/`;

/** A picture of the project comes from the site itself. */
export function resolveImage(src, page) {
  if (!src.startsWith(PICTURES)) return src;
  return `./${posix.relative(posix.dirname(page), src.slice(PICTURES.length))}`;
}
