/** Configures the site: pages of `tools/site/.pages`, search in the browser, no request to another host. @module */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitepress'
import { searchOptions } from '../search.js'
import { createAccessibleTheme } from './accessible-theme.js'
import { renderFigure } from './mermaid.js'
import { buildSidebar } from './sidebar.js'

const pages = join(import.meta.dirname, '../.pages')

/** Formats a heading's anchor as GitHub does, so that links work there and on the site. */
function formatAnchor(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
}

export default defineConfig({
  title: 'Payment integration',
  description: 'Receive, read, test and run: the documentation of the payment integration service.',
  lang: 'en',
  srcDir: '.pages',
  srcExclude: ['public/**'],
  outDir: 'dist',
  lastUpdated: false,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/favicon.svg' }]],
  // `tools/site/check-links.mjs` checks every link and anchor of the built pages.
  ignoreDeadLinks: true,
  vite: { plugins: [createAccessibleTheme()] },
  markdown: {
    html: false,
    linkify: false,
    languageAlias: { caddy: 'nginx' },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: formatAnchor },
    config(md) {
      // Vue must not evaluate braces of a document.
      for (const rule of ['text', 'code_inline'] as const) {
        const render = md.renderer.rules[rule]
        md.renderer.rules[rule] = (...given) => (render?.(...given) ?? '').replaceAll('{{', '&#123;&#123;')
      }
      // An empty header cell labels no column.
      for (const [rule, offset] of [
        ['th_open', 1],
        ['th_close', -1],
      ] as const)
        md.renderer.rules[rule] = (tokens, index, options, _env, self) => {
          const token = tokens[index]
          if (token !== undefined && tokens[index + offset]?.content === '') token.tag = 'td'
          return self.renderToken(tokens, index, options)
        }
      // A wide table scrolls, by keyboard too.
      md.renderer.rules['table_open'] = () => '<div class="table" tabindex="0"><table>\n'
      md.renderer.rules['table_close'] = () => '</table></div>\n'
      // An image with a `-dark` variant follows the theme.
      const image = md.renderer.rules.image
      md.renderer.rules.image = (tokens, index, options, env, self) => {
        const token = tokens[index]
        const html = image?.(tokens, index, options, env, self) ?? ''
        const [whole, stem] = /^[/](.*)[.]png$/.exec(token?.attrGet('src') ?? '') ?? []
        if (whole === undefined || !existsSync(join(pages, 'public', `${stem}-dark.png`))) return html
        const dark = html.replace(whole, `/${stem}-dark.png`)
        return html.replace('<img', '<img class="in-light"') + dark.replace('<img', '<img class="in-dark"')
      }
      // A path breaks at its slashes, a code between its words, and an option nowhere.
      const code = md.renderer.rules.code_inline
      md.renderer.rules.code_inline = (...given) =>
        (code?.(...given) ?? '')
          .replaceAll(/(?<=[^<>\s/])\/(?=[^\s/>])/g, '/<wbr>')
          .replaceAll(/(?<=[\s>])--?[a-z][\w-]*/g, '<span class="option">$&</span>')
          .replaceAll(/(?<=[A-Z])_(?=[A-Z])/g, '_<wbr class="between-words">')
      const fence = md.renderer.rules.fence
      md.renderer.rules.fence = (tokens, index, ...rest) => {
        const token = tokens[index]
        if (token?.info.trim() === 'mermaid') return renderFigure(token.content)
        return fence?.(tokens, index, ...rest) ?? ''
      }
    },
  },
  themeConfig: {
    search: { provider: 'local', options: { miniSearch: { searchOptions } } },
    sidebar: buildSidebar(pages),
    outline: [2, 3],
    nav: [
      { text: 'Start', link: '/start' },
      { text: 'Webhooks', link: '/packages/webhook/' },
      { text: 'Embed', link: '/guides/embed-the-service' },
      { text: 'Run', link: '/guides/run-a-server' },
      { text: 'Reference', link: '/interface' },
      { text: 'Decisions', link: '/decisions/' },
    ],
  },
})
