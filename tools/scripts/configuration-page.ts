/** Makes the tables of docs/configuration.md from the table of variables. Usage: npm run configuration-page @module */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { formatDefault, type Variable } from '../../packages/server/src/config/kinds.js'
import { chainVariables, sections } from '../../packages/server/src/config/variables.js'

const path = join(import.meta.dirname, '../../docs/configuration.md')
const begin = '<!-- variables: npm run configuration-page -->'
const end = '<!-- end of variables -->'
const listSuffix = '; several are separated by commas'
const head = ['| Variable | Meaning | Value | Default |', '| --- | --- | --- | --- |']

/** The page with its tables made anew. @throws Error When the page has no place for them. */
export function fillPage(page: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`The page has no place ${begin} … ${end}.`)
  const tables = Object.entries(sections).map(([title, rows]) => {
    const suffix = rows === chainVariables ? '<chainId>' : ''
    const lines = Object.entries(rows).map(([name, row]) => `| ${getCells(`${name}${suffix}`, row).join(' | ')} |`)
    return [`### ${title}`, '', ...head, ...lines].join('\n')
  })
  return [page.slice(0, from) + begin, ...tables, page.slice(to)].join('\n\n')
}

function getCells(name: string, row: Variable<unknown>): string[] {
  const condition = row.onlyWith === undefined ? '' : ` Only with \`${row.onlyWith}\`.`
  const marks = [...(row.isSecret ? ['*Secret.*'] : []), ...(row.expected.includes(listSuffix) ? ['*List.*'] : [])]
  const expected = row.expected
    .replace(', in plain digits', '')
    .replace(listSuffix, '')
    .replace(/^one of /, '')
    .replace(/^(?:an? )?(?:number of )?([a-z ]+) from (\d+) to (\d+)$/, '$2–$3 $1')
    .replace(/ milliseconds$/, ' ms')
    .replace(/ percentage$/, ' %')
    .replace(/^(\d+–\d+) port$/, '$1')
  return [
    `\`${name}\``,
    `${row.required === true ? '*Required.* ' : ''}${row.doc}${condition}`,
    [...marks, expected].join(' '),
    formatDefault(row),
  ]
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(path, fillPage(readFileSync(path, 'utf8')))
  console.log('docs/configuration.md is written.')
}
