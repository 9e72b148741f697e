/** Makes the lists of docs/doctor.md and docs/explain.md from the code. Usage: npm run diagnostic-pages @module */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { causes, fixes } from '../../packages/testing/src/doctor/causes.js'
import type { ProbeSpec } from '../../packages/testing/src/doctor/probes/probe.js'
import { probes } from '../../packages/testing/src/doctor/report.js'
import { descriptions } from '../../packages/testing/src/explain/finding.js'

type Rows = readonly (readonly [group: string, line: string])[]

const expectations: Readonly<Record<string, string>> = {
  '2xx': 'Must be accepted (2xx):',
  '4xx': 'Must be rejected (4xx):',
}
const sections = {
  'Signature header': /^(signature|time|scheme)_/,
  Secrets: /^secrets?_/,
  Body: /^body_/,
  'Clock and content': /^(delivery|snapshot|integration)_/,
}

/** The lists by page and by their place in it. */
const lists: Readonly<Record<string, () => string>> = {
  'docs/doctor.md: probes': () =>
    formatGroups(
      Object.entries<ProbeSpec>(probes).map(([name, { sent, expected }]) =>
        expected in expectations
          ? [expectations[expected] ?? '', `\`${name}\`: ${sent}`]
          : ['With another expectation:', `\`${name}\`: ${sent}. Expected: ${expected}`],
      ),
    ),
  'docs/doctor.md: causes': () =>
    formatGroups(
      Object.entries(causes).map(([code, [topic, sentence]]) => [fixes[topic].summary, `\`${code}\`: ${sentence}`]),
    ),
  'docs/explain.md: findings': () =>
    Object.entries(sections)
      .map(([title, pattern]) => `### ${title}\n\n${formatGroups(getFindingRows(pattern))}`)
      .join('\n\n'),
}

/** A change that several findings share is the head of their list. */
function getFindingRows(pattern: RegExp): Rows {
  const matches = Object.entries(descriptions).filter(([code]) => pattern.test(code))
  return matches.map(([code, { cause, change }]) =>
    matches.filter(([, other]) => other.change === change).length > 1
      ? [change, `\`${code}\`: ${cause}`]
      : ['', `\`${code}\`: ${cause} *${change}*`],
  )
}

/** One list for each group, in the order of their first rows. Rows without a group come first. */
function formatGroups(rows: Rows): string {
  const groups = new Map<string, string[]>()
  for (const [group, line] of rows.toSorted(([a], [b]) => Number(a !== '') - Number(b !== '')))
    groups.set(group, [...(groups.get(group) ?? []), `- ${line}`])
  return [...groups].map(([group, lines]) => [...(group === '' ? [] : [group, '']), ...lines].join('\n')).join('\n\n')
}

/** The page with its lists made anew. @throws Error When the page has no place for one. */
export function fillPage(path: string, page: string): string {
  return Object.entries(lists).reduce((text, [place, list]) => {
    const [owner, name] = place.split(': ')
    if (owner !== path) return text
    const [begin, end] = [`<!-- ${name}: npm run diagnostic-pages -->`, `<!-- end of ${name} -->`]
    const [from, to] = [text.indexOf(begin), text.indexOf(end)]
    if (from < 0 || to < from) throw new Error(`${path} has no place ${begin} … ${end}.`)
    return `${text.slice(0, from)}${begin}\n\n${list()}\n\n${text.slice(to)}`
  }, page)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  for (const path of ['docs/doctor.md', 'docs/explain.md']) {
    const file = join(import.meta.dirname, '../..', path)
    writeFileSync(file, fillPage(path, readFileSync(file, 'utf8')))
    console.log(`${path} is written.`)
  }
