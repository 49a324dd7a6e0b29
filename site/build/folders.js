import { fileURLToPath, URL } from 'node:url';

/** The repository, whose pages the site shows. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const SITE = fileURLToPath(new URL('..', import.meta.url));
/** The built site. */
export const DIST = fileURLToPath(new URL('../dist', import.meta.url));
