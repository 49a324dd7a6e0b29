'use strict';

/**
 * `nest add nestjs-delay-queue`: imports the module, adds an example handler and its test, and installs ioredis. It writes nothing
 * unless it can write all of that.
 *
 * A schematic is a function over a tree of files, so this needs no package.
 */

const { addProvider, addToModule } = require('./edit-module.cjs');
const { exampleHandler, exampleTest } = require('./example.cjs');

const HANDLER = 'reminders/reminders';
/** Of Prettier, which `nest new` sets up. */
const LINE_WIDTH = 80;
/** Of an option of a module in the list of imports. */
const INDENT = 6;
/** TypeORM accepts no newer one. */
const IOREDIS_WITH_TYPEORM = '^5.4.0';
const IOREDIS = '^6.0.0';

module.exports.default = ({ sourceRoot = 'src', module = 'app.module.ts', connection, skipInstall }) => {
  return (tree, context) => {
    const manifest = readManifest(tree);
    const modulePath = `${sourceRoot}/${module}`;
    if (!tree.exists(modulePath)) {
      throw new Error(
        `There is no ${modulePath}: pass --module with the file of your root module, below ${sourceRoot}.`,
      );
    }
    checkConnection(connection);
    const suffix = isEsm(manifest) ? '.js' : '';
    const up = '../'.repeat(module.split('/').length - 1) || './';
    const text = read(tree, modulePath);
    if (/\bDelayQueueModule\b/.test(text)) {
      context.logger.info(`${modulePath} has the DelayQueueModule already; nothing was changed.`);
      return tree;
    }
    const edited = addProvider(addToModule(text, modulePath, forRoot(connection)), modulePath, {
      name: 'Reminders',
      from: `${up}${HANDLER}${suffix}`,
    });
    const example = { [`${HANDLER}.ts`]: exampleHandler(), [`${HANDLER}.spec.ts`]: exampleTest(suffix) };
    for (const [file, content] of Object.entries(example)) create(tree, `${sourceRoot}/${file}`, content);
    tree.overwrite(modulePath, edited);
    enableShutdownHooks(tree, `${sourceRoot}/main.ts`, context);
    if (addIoredis(tree, manifest) && !skipInstall) context.addTask(install(tree));
    return tree;
  };
};

function forRoot(connection) {
  if (connection === undefined) return "DelayQueueModule.forRoot({ store: 'memory' })";
  const url = `process.env.REDIS_URL ?? '${connection}'`;
  const line = `connection: ${url},`;
  const fits = INDENT + line.length <= LINE_WIDTH;
  return `DelayQueueModule.forRoot({\n  ${fits ? line : `connection:\n    ${url},`}\n})`;
}

function checkConnection(connection) {
  if (connection === undefined || /^(redis|rediss):\/\/[^\s'"\\$`]+$/.test(connection)) return;
  throw new Error('connection must be the URL of a Redis, such as --connection redis://127.0.0.1:6379.');
}

/** An application is an ES module if its manifest says so; then its imports have suffixes. */
function isEsm({ type }) {
  return type === 'module';
}

function readManifest(tree) {
  if (!tree.exists('package.json'))
    throw new Error('There is no package.json here: run nest add in the folder of your application.');
  return JSON.parse(read(tree, 'package.json'));
}

/** The stock `main.ts`. Another one is left alone: without the hooks, the log of the application says what it lacks. */
function enableShutdownHooks(tree, path, { logger }) {
  const text = tree.exists(path) ? read(tree, path) : '';
  if (text.includes('enableShutdownHooks')) return;
  const created = /^([ \t]*)const (\w+) = await NestFactory\.create\w*\([^;]*\);\n/m;
  if (!created.test(text)) return logger.warn(`Call app.enableShutdownHooks() where you create the application.`);
  tree.overwrite(
    path,
    text.replace(created, '$&$1$2.enableShutdownHooks(); // lets a stopping process finish its handlers\n'),
  );
}

/** npm installs peers by itself, but only what the manifest lists is there for the application to choose. */
function addIoredis(tree, manifest) {
  const { dependencies = {}, devDependencies = {} } = manifest;
  if ('ioredis' in dependencies || 'ioredis' in devDependencies) return false;
  const ioredis = 'typeorm' in dependencies ? IOREDIS_WITH_TYPEORM : IOREDIS;
  const sorted = Object.entries({ ...dependencies, ioredis }).sort(([a], [b]) => (a < b ? -1 : 1));
  const changed = { ...manifest, dependencies: Object.fromEntries(sorted) };
  tree.overwrite('package.json', `${JSON.stringify(changed, null, 2)}\n`);
  return true;
}

/** What `NodePackageInstallTask` is. */
function install(tree) {
  const lockFiles = { 'pnpm-lock.yaml': 'pnpm', 'yarn.lock': 'yarn', 'bun.lock': 'bun' };
  const [, packageManager = 'npm'] = Object.entries(lockFiles).find(([file]) => tree.exists(file)) ?? [];
  const options = { command: 'install', quiet: true, hideOutput: true, allowScripts: false, packageManager };
  return { toConfiguration: () => ({ name: 'node-package', options }) };
}

function create(tree, path, text) {
  if (tree.exists(path))
    throw new Error(`${path} exists already: rename it, or add the module by hand. Nothing was changed.`);
  tree.create(path, text);
}

function read(tree, path) {
  return tree.read(path).toString('utf8');
}
