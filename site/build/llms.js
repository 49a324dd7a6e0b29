import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BASE, ROOT } from './folders.js';
import { addressOf, ROUTES } from './routes.js';
import { SIDEBAR } from '../.vitepress/sidebar.js';

/** The site in one file, and a list of its pages: for language models, which read text rather than pages. */
export function writeTextsForModels(outDir, { version, description }) {
  const pages = new Map(Object.entries(ROUTES).map(([page, route]) => [addressOf(route), page]));
  const groups = [...SIDEBAR['/'], ...SIDEBAR['/examples/']];
  const head = `# nestjs-delay-queue ${version}\n\n> ${description}\n`;
  const list = groups.map(({ text, items }) => `\n## ${text}\n\n${items.map(lineOf).join('\n')}\n`).join('');
  writeFileSync(
    join(outDir, 'llms.txt'),
    `${head}\nAll pages in one file: [llms-full.txt](${BASE}llms-full.txt)\n${list}`,
  );
  const texts = groups.flatMap(({ items }) => items.map(({ link }) => textOf(link, pages.get(link))));
  writeFileSync(join(outDir, 'llms-full.txt'), `${head}\n${texts.join('\n')}`);
}

const lineOf = ({ text, link }) => `- [${text}](${BASE}${link.slice(1)})`;

const textOf = (link, page) => `<!-- ${link} -->\n\n${readFileSync(join(ROOT, page), 'utf8')}`;
