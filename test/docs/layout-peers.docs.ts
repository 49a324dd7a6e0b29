import { describe, expect, test } from '@jest/globals';
import { checkPeersOfLayouts, isOfLayout } from '../../release/layout-peers.js';
import { publishedPackages, readManifest } from '../../release/packages.js';

const packages = publishedPackages();

describe('the layout packages', () => {
  test('consist of the Redisson package alone', () => {
    expect(
      packages
        .slice(1)
        .filter(isOfLayout)
        .map(({ name }) => name),
    ).toEqual(['nestjs-delay-queue-redisson']);
  });

  test('require exactly the library version that they are built with', () => {
    expect(() => checkPeersOfLayouts(packages, ({ folder }) => readManifest(folder))).not.toThrow();
  });

  test.each<[string, string | undefined]>([
    ['a range of versions', '^0.1.0'],
    ['another version', '0.1.1'],
    ['no version', undefined],
  ])('are not released if they require %s of the library', (_what, range) => {
    const manifestOf = ({ name }: { name: string }) =>
      name === 'nestjs-delay-queue' ? { version: '0.1.0' } : { peerDependencies: { 'nestjs-delay-queue': range } };
    expect(() => checkPeersOfLayouts(packages, manifestOf)).toThrow(
      `nestjs-delay-queue-redisson imports 'nestjs-delay-queue/layouts', so its peer nestjs-delay-queue must be 0.1.0, not ${range}.`,
    );
  });
});
