/** Gathers every error code with cause and cure from the tables of the documents. @module */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { routeOf } from './routes.js'
import { cell } from './table.js'

/** A code with its cause and cure, and the document that says so. */
export interface ErrorRow {
  readonly code: string
  readonly cause: string
  readonly cure: string
  readonly file: string
}

/** The rows of all tables that name codes: the last two cells are the cause and the cure. */
export function errorRows(root: string, files: readonly string[]): ErrorRow[] {
  return files
    .filter((file) => /^(packages\/[^/]+\/README|docs\/errors)[.]md$/.test(file))
    .flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(/^[|] (.*`ERR_.*) [|]$/gm)].flatMap(([, row = '']) => {
        const cells = row.split(/(?<!\\) [|] /)
        const [cause = '', cure = ''] = cells.slice(-2)
        return [
          ...cells
            .slice(0, -2)
            .join(' ')
            .matchAll(/`(ERR_\w+)`/g),
        ].map(([, code = '']) => ({ code, cause, cure, file }))
      }),
    )
}

/** One page: every code, in the order of the alphabet. */
export function errorsPage(root: string, files: readonly string[]): string {
  const rows = errorRows(root, files)
    .toSorted((one, other) => (one.code < other.code ? -1 : 1))
    .map(({ code, cause, cure, file }) => {
      const page = `/${routeOf(file)}.md`
      return `| [\`${code}\`](${page}) | ${linkless(cause)} | ${linkless(cure)} |`
    })
  return [
    '---',
    'aside: false',
    '---',
    '',
    '# Error codes',
    '',
    'Every code with its cause and cure. Branch on `code`, never on the message.',
    '',
    '| Code | Cause | Cure |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}

/** Links of a row are relative to its own document. */
const linkless = (text: string) => cell(text.replaceAll('\\|', '|').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'))
