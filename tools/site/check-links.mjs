/** Checks that relative links of generated pages and of `llms.txt` lead to a file and an anchor. @module */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'

const [folder = 'tools/site/dist'] = process.argv.slice(2)
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => resolve(folder, name))
const pages = files.filter((file) => file.endsWith('.html'))
const shorten = (/** @type {string} */ file) => relative(folder, file)

/** @type {Map<string, Set<string>>} */
const idsByPage = new Map()

/** The ids of a page. @param {string} page */
function getIds(page) {
  const cachedIds = idsByPage.get(page)
  if (cachedIds !== undefined) return cachedIds
  const ids = new Set([...readFileSync(page, 'utf8').matchAll(/\sid="([^"]+)"/g)].map(([, id = '']) => decodeHtml(id)))
  idsByPage.set(page, ids)
  return ids
}

/** @param {string} text */
function decodeHtml(text) {
  return text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>')
}

/** The file of a link's path: a leading slash names the folder, and a trailing one its index. */
function getFile(/** @type {string} */ page, /** @type {string} */ path) {
  const file = path.startsWith('/') ? resolve(folder, `.${path}`) : resolve(dirname(page), path)
  return path.endsWith('/') ? resolve(file, 'index.html') : file
}

/** The problem of a link on a page, or null. @param {string} page @param {string} link */
function findFlaw(page, link) {
  const [, path = '', anchor = ''] = /^([^?#]*)(?:\?[^#]*)?(?:#(.*))?$/.exec(link) ?? []
  const target = path === '' ? page : getFile(page, decodeURIComponent(path))
  if (statSync(target, { throwIfNoEntry: false })?.isFile() !== true) return 'there is no such file'
  if (anchor === '' || !target.endsWith('.html')) return null
  return getIds(target).has(decodeURIComponent(anchor)) ? null : 'there is no such place on that page'
}

const problems = []
let links = 0
for (const page of pages)
  for (const [, escaped = ''] of readFileSync(page, 'utf8').matchAll(/\s(?:href|src)="([^"]*)"/g)) {
    const link = decodeHtml(escaped)
    if (/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(link)) continue
    links++
    const flaw = findFlaw(page, link)
    if (flaw !== null) problems.push(`${shorten(page)}: ${link}: ${flaw}`)
  }
const forMachines = resolve(folder, 'llms.txt')
if (existsSync(forMachines))
  for (const [, link = ''] of readFileSync(forMachines, 'utf8').matchAll(/\]\(([^)]+)\)/g)) {
    links++
    const flaw = findFlaw(forMachines, link)
    if (flaw !== null) problems.push(`llms.txt: ${link}: ${flaw}`)
  }
// A Markdown file without a page was copied unchanged: its links are relative to its former folder.
for (const file of files.filter(
  (each) => each.endsWith('.md') && !each.endsWith('/AGENTS.md') && !existsSync(each.replace(/[.]md$/, '.html')),
))
  problems.push(`${shorten(file)} is copied and not a page`)

for (const problem of new Set(problems)) console.error(problem)
console.log(`${pages.length} pages, ${links} relative links, ${new Set(problems).size} problems`)
process.exitCode = problems.length > 0 || links === 0 ? 1 : 0
