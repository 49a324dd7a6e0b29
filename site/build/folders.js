import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';

/** The repository, whose pages the site shows. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const SITE = fileURLToPath(new URL('..', import.meta.url));
/** The built site. */
export const DIST = fileURLToPath(new URL('../dist', import.meta.url));

/** Where the site is served from: on GitHub Pages, a project's site is below its name. */
export const BASE = process.env.SITE_BASE ?? '/nestjs-delay-queue/';
