export interface PublishedPackage {
  readonly name: string;
  readonly folder: string;
}
export declare function checkPeersOfLayouts(
  packages: readonly PublishedPackage[],
  manifestOf: (each: PublishedPackage) => Record<string, unknown>,
): void;
export declare function isOfLayout(each: PublishedPackage): boolean;
