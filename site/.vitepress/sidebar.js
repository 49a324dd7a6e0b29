import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, SITE } from '../build/folders.js';
import { addressOf, ROUTES } from '../build/routes.js';

/** The groups of the guide, in the order in which one reads them. */
const GUIDE = {
  'Get started': ['README.md', 'docs/README.md', 'docs/migrating-from-bullmq.md'],
  'Offer and handle': [
    'docs/handlers.md',
    'docs/producing.md',
    'docs/typed-queues.md',
    'docs/batches.md',
    'docs/groups.md',
    'docs/families.md',
    'docs/nest.md',
    'docs/context.md',
    'docs/instances.md',
    'docs/encryption.md',
    'packages/outbox/README.md',
    'docs/outbox.md',
  ],
  Recipes: ['docs/recipes.md', 'docs/calendars.md', 'docs/side-effects.md'],
  Test: ['docs/testing.md', 'docs/testing-redis.md'],
  'Look up': ['docs/options.md', 'docs/errors.md', 'docs/events.md', 'docs/log.md'],
  'Run it': [
    'docs/operations.md',
    'docs/deployment.md',
    'docs/clusters.md',
    'docs/scaling.md',
    'docs/observability.md',
    'docs/compatibility.md',
    'packages/cli/README.md',
    'docs/command-line.md',
    'docs/board.md',
    'packages/board/README.md',
    'packages/bull-board/README.md',
  ],
  'Know what happens': [
    'docs/reliability.md',
    'docs/proof.md',
    'docs/lifecycle.md',
    'docs/faults.md',
    'docs/redis-faults.md',
    'docs/benchmarks.md',
  ],
  'With Java': [
    'packages/redisson/README.md',
    'packages/redisson/docs/codecs.md',
    'packages/redisson/docs/kryo5.md',
    'packages/redisson/docs/moving.md',
    'packages/redisson/declare-classes/README.md',
    'packages/redisson/docs/internals.md',
  ],
};

const LONG = ['Get started', 'Offer and handle', 'Recipes', 'Test', 'Look up'];

const titleOf = (page) => /^# (.*)$/m.exec(readFileSync(join(ROOT, page), 'utf8'))[1].replaceAll('`', '');

const itemOf = (page) => ({
  text: page === 'README.md' ? 'Getting started' : titleOf(page),
  link: addressOf(ROUTES[page]),
});

const pagesOf = (pattern) => Object.keys(ROUTES).filter((page) => pattern.test(page));

/** Pages of the guide that no group names, so that a new page is never without a way to it. */
const named = new Set(Object.values(GUIDE).flat());
const others = pagesOf(/^(docs\/(?!internals|architecture)|packages\/)/).filter((page) => !named.has(page));

const guide = Object.entries({ ...GUIDE, ...(others.length > 0 && { More: others }) }).map(([text, pages]) => ({
  text,
  collapsed: LONG.includes(text) ? false : true,
  items: pages.filter((page) => page in ROUTES).map(itemOf),
}));

guide.push({
  text: 'Look inside',
  collapsed: true,
  items: ['docs/architecture.md', ...pagesOf(/^docs\/internals\//), 'CONTRIBUTING.md', 'CHANGELOG.md'].map(itemOf),
});

const examples = [{ text: 'Examples', items: pagesOf(/^examples\//).map(itemOf) }];

const NAVIGATION = join(SITE, 'api/typedoc-sidebar.json');

/** typedoc writes the paths of files. */
const apiItem = ({ text, link, items, collapsed }) => ({
  text,
  ...(link && {
    link: `/${link
      .replace(/^.*?api\//, 'api/')
      .replace(/index(\.md)?$/, '')
      .replace(/\.md$/, '')}`,
  }),
  ...(items && { collapsed, items: items.map(apiItem) }),
});

const api = existsSync(NAVIGATION) ? JSON.parse(readFileSync(NAVIGATION, 'utf8')).map(apiItem) : [];

export const SIDEBAR = {
  '/api/': [{ text: 'API reference', link: '/api/', items: api }],
  '/examples/': examples,
  '/': guide,
};
