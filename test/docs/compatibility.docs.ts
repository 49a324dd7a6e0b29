import { describe, expect, test } from '@jest/globals';
import { isOfLayout } from '../../release/layout-peers.js';
import { publishedPackages } from '../../release/packages.js';
import { NODE_VERSIONS } from '../smoke/node-versions.js';
import { SERVERS } from '../versions/servers.js';
import { readPage } from './pages.js';

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly peerDependencies: Readonly<Record<string, string>>;
}

const readManifest = async (folder: string) => JSON.parse(await readPage(`${folder}package.json`)) as Manifest;
const library = await readManifest('');
const page = await readPage('docs/compatibility.md');

/** Returns the versions that the page calls supported. */
const supported = (name: string) => new RegExp(`^\\| ${name} +\\| (.*?) +\\|`, 'm').exec(page)?.[1];
/** The lowest version of each alternative in a range: `^5.4.0 || ^6.0.0` is 5.4 and 6. */
const lowest = (range: string) =>
  range.split(' || ').map((each) => /(\d+)\.(\d+)/.exec(each)!.slice(1).join('.').replace(/\.0$/, ''));

describe('the page about compatibility', () => {
  test('lists the Node.js release lines required by the manifest, and the newer ones tested', () => {
    const [first, next] = lowest(library.engines.node);
    expect(supported('Node.js')).toBe(`${first} or newer, ${next} or newer, ${NODE_VERSIONS.slice(2).join(', ')}`);
  });

  test('lists the NestJS and ioredis release lines that the manifest accepts', () => {
    const { '@nestjs/core': nest, ioredis } = library.peerDependencies;
    expect(supported('NestJS')).toBe(lowest(nest!).join(', '));
    expect(supported('ioredis')).toBe(lowest(ioredis!).join(' or newer, '));
  });

  test.each(['Redis', 'Valkey'])('lists the versions of %s that npm run test:versions tests', (product) => {
    const versions = SERVERS.map(({ name }) => name.split(' ')).filter(([name]) => name === product);
    expect(supported(product)).toBe(`tested with ${versions.map(([, version]) => version).join(', ')}`);
  });

  test('lists the TypeScript versions with which the smoke tests compile', async () => {
    const application = await readPage('test/smoke/nest-application.ts');
    const versions = [...application.matchAll(/typescript-(\d\.\d)@/g)].map(([, version]) => version);
    const [, native] = /"typescript-native": "npm:typescript@\^(\d\.\d)/.exec(await readPage('package.json'))!;
    versions.push(native);
    expect(supported('TypeScript')).toBe(`tested with ${versions.join(', ')}`);
  });
});

test('all packages have the version of the library and require it as a peer', async () => {
  for (const each of publishedPackages().filter(({ folder }) => folder !== '.')) {
    const { version, peerDependencies } = await readManifest(`${each.folder}/`);
    expect(version).toBe(library.version);
    expect(peerDependencies['nestjs-delay-queue']).toBe(isOfLayout(each) ? version : `^${version}`);
  }
});
