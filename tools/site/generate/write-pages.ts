/** Writes every page and every file of the site into `tools/site/.pages`. @module */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buildApiPages } from './api-pages.js'
import { buildChangelogPage } from './changelog-page.js'
import { buildCliPage } from './cli-pages.js'
import { buildCoveragePage } from './coverage-page.js'
import { buildEventsPage } from './events-page.js'
import { buildFrameworkPages } from './framework-pages.js'
import { buildHttpPage } from './http-page.js'
import { buildLanguagePages } from './language-pages.js'
import { buildMachineFiles } from './machine-files.js'
import { getTitle, mapProse } from './markdown.js'
import { buildMetricsPage } from './metrics-page.js'
import { getDownload, rewriteLinks } from './rewrite-links.js'
import { getRoutes, listRepositoryFiles } from './routes.js'

/** Writes all pages and files. @returns The number of pages. */
export async function writePages(root: string): Promise<number> {
  const out = join(root, 'tools/site/.pages')
  rmSync(out, { recursive: true, force: true })
  const files = listRepositoryFiles(root)
  const routes = getRoutes(files)
  const downloads = new Set<string>()
  const targets = { routes, files: new Set(files), onFile: (path: string) => downloads.add(path) }
  const pages = new Map<string, string>()
  for (const [file, route] of routes)
    pages.set(route, rewriteLinks(removeComments(readFileSync(join(root, file), 'utf8')), file, targets))
  pages.set('index', insertReceiver(pages.get('index') ?? '', readFileSync(join(root, 'README.md'), 'utf8')))
  const generated: [string, string][] = [
    ['reference/http', buildHttpPage()],
    ['reference/commands', await buildCliPage()],
    ['reference/metrics', await buildMetricsPage()],
    ['reference/events', buildEventsPage(root)],
    ['reference/contract-coverage', buildCoveragePage(root)],
    ...(await buildFrameworkPages(root)),
    ...buildLanguagePages(root),
    ...buildApiPages(join(root, 'tools/site/.api')),
    ['changelog', buildChangelogPage(root, files)],
  ]
  for (const [route, text] of generated) pages.set(route, text)
  for (const [route, text] of pages) write(join(out, `${route}.md`), text)
  for (const path of [...downloads].map((path) => path.replace(/[.]png$/, '-dark.png')))
    if (targets.files.has(path)) downloads.add(path)
  for (const path of downloads) copy(join(root, path), join(out, 'public', getDownload(path)))
  copy(join(root, 'tools/site/pages/public'), join(out, 'public'))
  const agents = readFileSync(join(root, 'docs/agents.md'), 'utf8')
  const described = [...pages].map(([route, text]) => ({ route, text, title: getTitle(route, text) }))
  for (const [path, text] of buildMachineFiles(described, agents)) write(join(out, 'public', path), text)
  return pages.size
}

/** The page without its HTML comments, which the site would show as text. */
const removeComments = (text: string) => mapProse(text, (part) => part.replaceAll(/^<!--[\s\S]*?-->\n+/gm, ''))

/** The home page with the receiver of the README, so that both show the same. */
function insertReceiver(home: string, readme: string): string {
  const [receiver] = /^```ts$[\s\S]*?^```$/m.exec(readme) ?? []
  if (receiver === undefined) throw new Error('README.md has no TypeScript for the home page.')
  return home.replace('the TypeScript of the README', () => receiver)
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to, { recursive: true })
}
