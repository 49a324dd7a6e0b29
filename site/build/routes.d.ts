export declare const ROUTES: Readonly<Record<string, string>>;
