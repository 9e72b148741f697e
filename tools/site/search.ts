/** Orders the hits of the site's search, and checks the first hit of sample searches. @module */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import MiniSearch, { type SearchOptions } from 'minisearch'

/** The browser gets the source text of these functions, so they may name nothing outside themselves. */
export const searchOptions: SearchOptions = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 4, text: 2, titles: 2 },
  combineWith: 'OR', // a page with more of the words stands higher
  // Words of a question say nothing about the page.
  processTerm: (term) =>
    /^(a|an|and|are|can|do|does|for|how|i|in|is|it|my|of|on|or|the|to|was|were|what|when|where|why|with)$/i.test(term)
      ? null
      : term.toLowerCase(),
  // Readers look for guides first; figures, vectors, changelogs and decisions answer other questions.
  boostDocument: (id, _term, stored) => {
    // A page as a whole stands above its sections.
    const whole = (stored?.['titles'] as string[] | undefined)?.length === 0 ? 1.5 : 1
    if (/^\/decisions\/retries/.test(id)) return 1.5 * whole // the schedule stands on this page alone
    if (/^\/(bench|simulation|environments|vectors|changelog|performance|decisions|reference\/contract-cov)/.test(id))
      return 0.1 * whole
    if (/^\/(#|(api|reference|receive)\/)/.test(id)) return 0.4 * whole
    if (id.startsWith('/interface')) return 1.8 * whole // a word of the contract is explained there
    return (/^\/(guides|rotate|explain|databases)/.test(id) ? 1.5 : 1) * whole
  },
}

/** Words that a reader types, and the page that answers. */
const searches: readonly (readonly [query: string, page: string])[] = [
  ['signature mismatch', '/explain.html'],
  ['rotate secret', '/rotate-a-signing-secret.html'],
  ['409 KYC', '/guides/share-a-verification.html'],
  ['how do I test', '/guides/test-an-integration.html'],
  ['PgBouncer', '/databases.html'],
  ['refund', '/interface.html'],
  ['retry schedule', '/decisions/retries.html'],
  ['missed webhook', '/guides/reconcile.html'],
  ['move from SQLite to PostgreSQL', '/databases.html'],
]

/**
 * Searches the index of a built site as its search box does.
 * @returns A line for each search that finds another page first, and for each page that should rank last but does not.
 */
export async function findWrongHits(dist: string): Promise<string[]> {
  const chunks = join(dist, 'assets/chunks')
  const file = readdirSync(chunks).find((name) => name.startsWith('@localSearchIndexroot'))
  if (file === undefined) return ['The site has no search index.']
  const { default: json } = await import(pathToFileURL(join(chunks, file)).href)
  const index = MiniSearch.loadJSON(json, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    searchOptions,
  })
  const hits = searches.flatMap(([query, page]) => {
    const [first] = index.search(query)
    return first?.id.split('#')[0] === page ? [] : [`The search "${query}" finds ${first?.id} before ${page}.`]
  })
  const isLast = (page: string) => json.includes(`"/${page}`) && searchOptions.boostDocument?.(`/${page}`, '') === 0.1
  const last = 'bench/ simulation/ vectors/ changelog.html decisions/cells.html reference/contract-coverage.html'
  const early = last.split(' ').filter((page) => !isLast(page))
  return [...hits, ...early.map((page) => `/${page} does not rank last.`)]
}
