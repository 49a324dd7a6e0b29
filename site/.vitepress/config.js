import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { defineConfig } from 'vitepress';
import { BASE, DIST, ROOT, SITE } from '../build/folders.js';
import { writeTextsForModels } from '../build/llms.js';
import { EXCLUDED, REPOSITORY, resolveImage, resolveLink, ROUTES } from '../build/routes.js';
import { githubAnchor, rejectBrokenAnchors } from '../build/anchors.js';
import { SIDEBAR } from './sidebar.js';

const { version, description } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

export default defineConfig({
  title: 'nestjs-delay-queue',
  description,
  lang: 'en',
  base: BASE,
  srcDir: ROOT,
  outDir: DIST,
  cacheDir: join(SITE, '.vitepress/cache'),
  srcExclude: EXCLUDED,
  rewrites: ROUTES,
  cleanUrls: true,
  head: [['link', { rel: 'icon', href: `${BASE}icon.svg`, type: 'image/svg+xml' }]],
  appearance: true,
  markdown: {
    // GitHub shows no lines of HTML; a name in angle brackets is text.
    html: true,
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    languageAlias: { conf: 'ini' },
    anchor: { slugify: githubAnchor },
    config(md) {
      md.core.ruler.push('links-between-files', ({ tokens, env }) => {
        const file = env.realPath ?? env.path;
        if (file === undefined) return; // a title alone
        const page = relative(ROOT, file).split(sep).join('/');
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          if (token.type === 'link_open') token.attrSet('href', resolveLink(token.attrGet('href'), page));
          if (token.type === 'image') token.attrSet('src', resolveImage(token.attrGet('src'), page));
        }
      });
      // A wide table, or a long line of code, scrolls by itself; the keyboard must reach it.
      md.renderer.rules.table_open = () => '<div class="table" tabindex="0"><table>\n';
      md.renderer.rules.table_close = () => '</table></div>\n';
      // A table without headings has no headers.
      md.renderer.rules.th_open = (tokens, i) => (tokens[i + 1].content ? '<th>' : '<td>');
      md.renderer.rules.th_close = (tokens, i) => (tokens[i - 1].content ? '</th>\n' : '</td>\n');
    },
  },
  vite: {
    publicDir: join(SITE, 'public'),
    server: { fs: { allow: [ROOT] } },
    // The pages lie outside the folder whose packages render them.
    resolve: {
      alias: [
        {
          find: 'vue/server-renderer',
          replacement: join(SITE, 'node_modules/@vue/server-renderer/dist/server-renderer.esm-bundler.js'),
        },
        { find: /^vue$/, replacement: join(SITE, 'node_modules/vue/dist/vue.runtime.esm-bundler.js') },
      ],
    },
    ssr: { noExternal: ['vue', '@vue/server-renderer'] },
    build: { chunkSizeWarningLimit: 3000 },
  },
  themeConfig: {
    nav: [
      { text: 'Guide', link: '/guide/', activeMatch: '^/(guide|start)' },
      { text: 'API', link: '/api/', activeMatch: '^/api/' },
      { text: 'Examples', link: '/examples/', activeMatch: '^/examples/' },
      { text: 'Benchmarks', link: '/guide/benchmarks' },
      { text: `v${version}`, link: '/changelog' },
    ],
    sidebar: SIDEBAR,
    outline: { level: [2, 3] },
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: REPOSITORY, ariaLabel: 'Source on GitHub' }],
    editLink: { pattern: `${REPOSITORY}/edit/main/:path`, text: 'Edit this page on GitHub' },
    footer: { message: 'MIT license' },
  },
  transformPageData({ filePath, frontmatter }) {
    // Written from the comments of the sources.
    if (filePath.startsWith('site/api/')) frontmatter.editLink = false;
  },
  buildEnd({ outDir }) {
    writeTextsForModels(outDir, { version, description });
    rejectBrokenAnchors(outDir, BASE);
  },
});
