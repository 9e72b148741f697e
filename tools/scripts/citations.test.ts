/** Checks that every citation of the contract or of a page resolves. @module */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
const files = listed
  .toString()
  .split('\0')
  .filter(
    (path) =>
      /\.(ts|tsx|mts|mjs|md|sol)$/.test(path) &&
      !/CHANGELOG|^\.changeset|citations\.test|check-doc-links\.test/.test(path),
  )
  .filter((path) => existsSync(join(root, path)))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

/** Numbers of the headings of the contract: `2`, `2.1`, … */
const sections = new Set(
  [...readFileSync(join(root, 'docs/interface.md'), 'utf8').matchAll(/^#+ (\d+(?:\.\d+)?)\b/gm)].map(([, n]) => n),
)

/** `path:line: found` of each match that `isWrong`. */
function wrong(pattern: RegExp, isWrong: (match: RegExpMatchArray) => boolean): string[] {
  return files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        [...line.matchAll(pattern)].filter(isWrong).map(([found]) => `${path}:${index + 1}: ${found}`),
      ),
  )
}

describe('a citation', () => {
  test('of the contract names a section of docs/interface.md', () => {
    expect(sections.size).toBeGreaterThan(12)
    const lists = wrong(
      /(?:docs\/interface\.md|\b[Ii]nterface) (\d[\d.]*(?:(?:, | to | and )\d[\d.]*)*)/g,
      ([, list = '']) => list.split(/, | to | and /).some((each) => !sections.has(each.replace(/\.$/, ''))),
    )
    expect(lists).toEqual([])
  })

  test('of a page names an existing page', () => {
    expect(wrong(/\bdocs\/[a-z\d-]+(?:\/[a-z\d-]+)*\.md\b/g, ([page]) => !existsSync(join(root, page)))).toEqual([])
  })

  test('of a path, in backticks in a document, names a file or a folder', () => {
    const roots = ['', 'packages/']
    const missing = wrong(
      /`((?:packages|docs|tools|examples|vectors|ops|[a-z-]+\/(?:src|test))\/[\w./@-]+)`/g,
      ([, path = '']) => !roots.some((folder) => existsSync(join(root, folder, path.replace(/[.]$/, '')))),
    )
    // A build makes `dist`; a template's paths are of the project that gets it.
    const isOfDocument = (each: string) => /^[^:]+[.]md:/.test(each) && !/\/(?:templates|dist)\b/.test(each)
    expect(missing.filter(isOfDocument)).toEqual([])
  })

  test('names only documents of the repository', () => {
    expect(wrong(/\bINTERFACE\b|\bDESIGN\b|\b(?:STYLE|PLAIN)\.md\b|\bissue \d+\b/g, () => true)).toEqual([])
  })
})
