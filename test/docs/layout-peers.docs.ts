import { describe, expect, test } from '@jest/globals';
import { checkPeersOfLayouts, isOfLayout } from '../../release/layout-peers.js';
import { publishedPackages, readManifest } from '../../release/packages.js';

const packages = publishedPackages();

describe('a package of a layout', () => {
  test('is only the one of Redisson', () => {
    expect(
      packages
        .slice(1)
        .filter(isOfLayout)
        .map(({ name }) => name),
    ).toEqual(['nestjs-delay-queue-redisson']);
  });

  test('requires exactly the version of the library with which it is built', () => {
    expect(() => checkPeersOfLayouts(packages, ({ folder }) => readManifest(folder))).not.toThrow();
  });

  test.each(['^0.1.0', '0.1.1', undefined])('is not released with %s as the version of its peer', (range) => {
    const manifestOf = ({ name }: { name: string }) =>
      name === 'nestjs-delay-queue' ? { version: '0.1.0' } : { peerDependencies: { 'nestjs-delay-queue': range } };
    expect(() => checkPeersOfLayouts(packages, manifestOf)).toThrow(
      `nestjs-delay-queue-redisson imports 'nestjs-delay-queue/layouts', so its peer nestjs-delay-queue must be 0.1.0, not ${range}.`,
    );
  });
});
