import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { redReasons, type SoakResult } from '../soak-result.js';
import { renderPage } from './page.js';

/** Writes the report for people, and the same for programs; returns the path of the former. */
export function writeReport(result: SoakResult): string {
  const { out } = result.settings;
  const page = join(out, 'report.html');
  writeFileSync(page, renderPage(result));
  writeFileSync(join(out, 'report.json'), `${JSON.stringify({ red: redReasons(result), ...result }, null, 1)}\n`);
  return page;
}
