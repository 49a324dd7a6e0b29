const { existsSync, readdirSync } = require('node:fs');

const entries = readdirSync('lib').filter((folder) => existsSync(`lib/${folder}/index.ts`));

/** What stands beside the core, which knows none of it: the folders with an `index.ts`. */
const ENTRIES = `^lib/(${entries.join('|')})/`;

/**
 * Imports point down: each folder of the library may import the ones below it, never those above. `CONTRIBUTING.md` lists them in
 * the same order.
 */
const LAYERS = [
  ENTRIES,
  '^lib/(index|delay-queue-module)\\.ts$',
  '^lib/(observers|repeats)/',
  '^lib/producer/',
  '^lib/runtime/',
  '^lib/heartbeat/',
  '^lib/families/',
  '^lib/(batches|history)/',
  '^lib/consumer/',
  '^lib/handler/',
  '^lib/limits/',
  '^lib/options/',
  '^lib/(groups|partitions|schemas|search)/',
  '^lib/store/',
  '^lib/redis/',
  '^lib/events/',
  '^lib/message/',
  '^lib/timing/',
];

/** Imports that would point down, but that nobody needs: from each folder, never to these. */
const APART = {
  '(index|delay-queue-module)\\.ts$': ['runtime', 'events'],
  'producer/': ['handler', 'events'],
  'families/': ['events'],
  'batches/': ['handler', 'options'],
  'consumer/': ['handler', 'options'],
  'handler/': ['events'],
  'options/': ['events', 'timing'],
  'groups/': ['timing'],
  'partitions/': ['events'],
  'store/': ['events'],
  'message/': ['timing'],
};

/** The only files that import each feature, so that it can be removed: see `docs/internals/features.md`. */
const COMPOSED_IN = {
  batches: 'runtime/create-runner',
  families: 'runtime/workers',
  groups: 'runtime/(open-queue|create-stores)|producer/queue-methods|index',
  history: 'runtime/(create-runner|workers)|producer/(queue-methods|typed-messages)|index',
  heartbeat: 'runtime/workers|producer/delay-queue-producer|index',
  limits:
    'runtime/(open-queue|create-stores)|producer/queue-methods|index|testing/queues-under-test|export/queue-import',
  observers: 'delay-queue-module|index',
  partitions: 'runtime/open-queue',
  repeats: 'delay-queue-module',
  schemas: 'options/queue-definition',
  search: 'producer/(queue-methods|dead-letters|repeating-messages)|repeats/stored-repeats|index|diagnosis/index',
};

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-circle', severity: 'error', from: { path: '^(lib|packages)/' }, to: { circular: true } },
    ...LAYERS.slice(1).map((layer, i) => ({
      name: `not-up-from-${layer.replace(/\W+/g, '-')}`,
      severity: 'error',
      from: { path: layer },
      to: { path: LAYERS.slice(0, i + 1) },
    })),
    ...Object.entries(APART).map(([from, to]) => ({
      name: `apart-${from.replace(/\W+/g, '-')}`,
      severity: 'error',
      from: { path: `^lib/${from}` },
      to: { path: `^lib/(${to.join('|')})/` },
    })),
    ...Object.entries(COMPOSED_IN).map(([feature, files]) => ({
      name: `door-of-${feature}`,
      severity: 'error',
      from: { path: '^lib/', pathNot: [`^lib/${feature}/`, `^lib/(${files})\\.ts$`] },
      to: { path: `^lib/${feature}/` },
    })),
    {
      name: 'entries-apart',
      severity: 'error',
      from: { path: ENTRIES },
      to: { path: ENTRIES, pathNot: '^lib/$1/' },
    },
    {
      name: 'stores-apart',
      severity: 'error',
      from: { path: '^lib/store/(native|memory)/' },
      to: { path: '^lib/store/(native|memory)/', pathNot: '^lib/store/$1/' },
    },
    {
      name: 'packages-use-what-is-exported',
      comment: 'The other packages of this repository get the library from the registry.',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/' },
      to: { path: '^lib/', pathNot: '^lib/((calendar|diagnosis|encryption|export|layouts)/)?index\\.ts$' },
    },
    {
      name: 'library-without-packages',
      severity: 'error',
      from: { path: '^lib/' },
      to: { path: '^packages/' },
    },
    {
      name: 'everything-in-a-layer',
      comment: 'What builds the library is not part of it.',
      severity: 'error',
      from: {},
      to: { path: '^lib/', pathNot: [...LAYERS, '^lib/build/'] },
    },
    {
      name: 'hyphens-in-file-names',
      comment: 'Files are named after what they export, with hyphens between the words.',
      severity: 'error',
      from: { path: '^lib/.*[.][a-z-]+[.]ts$' },
      to: {},
    },
    {
      name: 'build-apart',
      severity: 'error',
      from: { path: '^lib/', pathNot: '^lib/build/' },
      to: { path: '^lib/build/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
