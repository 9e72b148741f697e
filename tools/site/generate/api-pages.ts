/** Splits long API pages of typedoc: types and errors get their own pages. @module */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { mapProse } from './markdown.js'

/** Approximate maximum length of a page, in characters of Markdown: about twelve screens. */
const maxLength = 12_000
/** A shorter group stays with the functions. */
const minGroupLength = 2_000

/** Pages by route; none when typedoc has not run. */
export function buildApiPages(folder: string): Map<string, string> {
  if (!existsSync(folder)) return new Map()
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
  const pages = names.flatMap((name) =>
    split(`api/${name.replace(/[.]md$/, '')}`, mapProse(readFileSync(join(folder, name), 'utf8'), shorten)),
  )
  const routes = new Map(
    pages.flatMap(({ module, route, text }) => getIds(text).map((id) => [`${module}#${id}`, route] as const)),
  )
  return new Map(pages.map((page) => [page.route, mapProse(page.text, (part) => redirectLinks(part, page, routes))]))
}

interface Page {
  /** The route that typedoc's links name. */
  readonly module: string
  readonly route: string
  readonly text: string
}

/**
 * Leaves a short module on one page. A long module gets one page for its functions and short groups, which links to the
 * pages of its long groups.
 */
function split(module: string, text: string): Page[] {
  if (text.length <= maxLength) return [{ module, route: module, text }]
  const [title = '', ...groups] = text.split(/^(?=## )/m)
  const pages: Page[] = []
  const sections = groups.map((group) => {
    if (group.length < minGroupLength || group.startsWith('## Functions')) return group
    const [heading = '', ...symbols] = group.split(/^(?=### )/m)
    const name = /^## (\w+)/.exec(heading)?.[1]?.toLowerCase() ?? ''
    const texts = pack(symbols)
    for (const [index, part] of texts.entries()) {
      const of = texts.length === 1 ? '' : `, ${index + 1} of ${texts.length}`
      const from = `Imported from [${title.slice(2).trim()}](/${module}.md).`
      pages.push({
        module,
        route: `${module}-${name}${index === 0 ? '' : `-${index + 1}`}`,
        text: `${title.trim()}: ${name}${of}\n\n${from}\n\n${part.replaceAll(/^### /gm, '## ')}`,
      })
    }
    const names = [...group.matchAll(/^### (.*) \{#(.*)\}$/gm)].map(([, label, id]) => `[${label}](#${id})`)
    return `${heading.trim()}\n\n${names.join(', ')}\n\n`
  })
  return [{ module, route: module, text: [title, ...sections].join('') }, ...pages]
}

/** Joins symbols, in order, to as few texts as the page length allows, of about equal length. */
function pack(symbols: readonly string[]): string[] {
  const total = symbols.join('').length
  const length = total / Math.ceil(total / maxLength)
  const texts: string[] = []
  let before = 0
  for (const symbol of symbols) {
    const index = Math.floor((before + symbol.length / 2) / length)
    texts[index] = (texts[index] ?? '') + symbol
    before += symbol.length
  }
  return texts.filter((text) => text !== undefined)
}

const getIds = (text: string) => [...text.matchAll(/\{#([^}]+)\}$/gm)].map(([, id = '']) => id)

/** Rewrites each link to point to the page that contains the target after the split. */
function redirectLinks(text: string, { module, route }: Page, routes: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\]\(([^():/#]*(?:\/[^():#]*)?)#([^()]+)\)/g, (whole, file: string, id: string) => {
    const target = file === '' ? module : posix.join(posix.dirname(module), file).replace(/[.]md$/, '')
    const owner = routes.get(`${target}#${id}`)
    if (owner === undefined) return whole
    return owner === route ? `](#${id})` : `](/${owner}.md#${id})`
  })
}

/** Shortens the text. Only link targets keep a heading, because the search makes a section of each heading. */
function shorten(text: string): string {
  return (
    text
      .replaceAll(/^#{4,6} (?:Overrides|Inherited from|Implementation of)\n\n.*\n+/gm, '')
      // The signature has the type already.
      .replaceAll(/^#{4,6} Returns\n\n.*\n+(?=#|\*\*\*|$(?![\s\S]))/gm, '')
      .replaceAll(/^(#{4,6} Throws\n\n.*\n)\n#{4,6} Throws$/gm, '$1')
      .replaceAll('__namedParameters', 'input')
      .replaceAll(/^\*\*\*\n+/gm, '')
      .replaceAll(/<a id="[^"]*"><\/a> ?/g, '')
      .replaceAll(
        /^## (.*)$/gm,
        (_, group: string) => `## ${group} {#group-${group.toLowerCase().replaceAll(' ', '-')}}`,
      )
      .replaceAll(/^#{4,6} (.*)$/gm, (_, title: string) => (title.endsWith('}') ? `#### ${title}` : `**${title}**`))
  )
}
