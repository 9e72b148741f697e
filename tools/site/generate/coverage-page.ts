/** Generates the page of contract coverage from `tools/scripts/contract-coverage.json`. @module */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { toCell } from './markdown.js'

interface Coverage {
  readonly sections: readonly {
    readonly heading: string
    readonly rows: readonly {
      readonly clause: string
      readonly statement: string
      readonly files: readonly string[]
      readonly tests: Readonly<Record<string, readonly string[]>>
    }[]
  }[]
  readonly untested: readonly { readonly clause: string; readonly reason: string }[]
}

/** One page: every clause of the contract, the files that fulfill it and the tests that prove it. */
export function buildCoveragePage(root: string): string {
  const { sections, untested } = JSON.parse(
    readFileSync(join(root, 'tools/scripts/contract-coverage.json'), 'utf8'),
  ) as Coverage
  return [
    '---',
    'aside: false',
    '---',
    '',
    '# Contract coverage',
    '',
    'Every clause of the [interface](/interface.md), the file that implements it and the tests that prove it.',
    ...sections.flatMap(({ heading, rows }) => [
      '',
      `## ${heading}`,
      '',
      '| Clause | It says | Implemented by | Proved by |',
      '| --- | --- | --- | --- |',
      ...rows.map(({ clause, statement, files, tests }) => {
        const proofs = Object.entries(tests).map(([file, titles]) => `\`${file}\`: ${titles.map(quote).join(', ')}`)
        const sources = files.map((file) => `\`${file}\``)
        return `| ${[clause, statement, sources.join(', '), proofs.join(', ')].map(toCell).join(' | ')} |`
      }),
    ]),
    '',
    '## Clauses without a test',
    '',
    ...untested.map(({ clause, reason }) => `- ${clause}: ${reason}.`),
    '',
  ].join('\n')
}

/** A title as text: `<` and `{{` would be markup. */
const quote = (title: string) => `"${title.replaceAll('<', '&lt;').replaceAll('{{', '&#123;{')}"`
