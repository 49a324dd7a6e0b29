export declare const ROOT: string;
export declare function publishedPackages(root?: string): { name: string; folder: string; published: string }[];
export declare function readManifest(folder: string): Record<string, unknown>;
