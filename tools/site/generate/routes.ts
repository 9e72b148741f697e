/** Decides which Markdown files of the repository are pages, and their paths on the site. @module */
import { execFileSync } from 'node:child_process'

/** Files of the repository, as git lists them: paths from its root. */
export function listRepositoryFiles(root: string): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  return [...new Set(listed.toString().split('\0'))].filter((path) => path !== '')
}

/** Markdown that is no page of its own: the notes of changes, and what a template or a test holds. */
const excluded = [/^[.]changeset\//, /\/CHANGELOG[.]md$/, /^tools\/site\/(?!pages\/)/, /\/templates\//, /\/fixtures?\//]

/**
 * The path of a page on the site, without its ending: `docs/roles.md` is `roles`, `packages/client/README.md` is
 * `packages/client/index`. Null when the file is no page.
 */
export function getRoute(path: string): string | null {
  if (!path.endsWith('.md') || excluded.some((pattern) => pattern.test(path))) return null
  if (path === 'README.md') return 'repository'
  if (path === 'docs/README.md') return 'documentation'
  const plain = path
    .replace(/^(docs|tools\/site\/pages|tools)\//, '')
    .replace(/(^|\/)README[.]md$/, '$1index.md')
    .replace(/[.]md$/, '')
  return plain.replace(/(^|\/)[A-Z]+$/, (name) => name.toLowerCase())
}

/** Every page of the repository: its file and its route. */
export function getRoutes(files: readonly string[]): Map<string, string> {
  const routes = new Map<string, string>()
  for (const file of files) {
    const route = getRoute(file)
    if (route === null) continue
    if ([...routes.values()].includes(route)) throw new Error(`Two files want to be ${route}; rename ${file}.`)
    routes.set(file, route)
  }
  return routes
}
