/** What `npm run lint` rejects as hard to read. */
import { join } from 'node:path'
import { expect, test } from 'vitest'

type FindProblems = (path: string, text: string) => readonly { readonly line: number; readonly words: string }[]
const { findProblems }: { findProblems: FindProblems } = await import(join(import.meta.dirname, 'check-words.mjs'))

const long = `${'word '.repeat(30)}end.`
const find = (text: string, path = 'a.ts') => findProblems(path, text).map(({ line, words }) => `${line}: ${words}`)

test.each([
  ['a line comment', `// ${long}`, 1],
  ['line comments that stand below each other', `// One.\n// ${long.slice(0, 75)}\n//${long.slice(75)}`, 1],
  ['a tag of a docstring', `/**\n * One.\n * @param a - ${long}\n */`, 3],
  ['a comment behind code', `const a = 1 // ${long}\n`, 1],
  ['a comment in JSX', `const a = <p>{/* ${long} */}</p>`, 1],
])('a sentence of 31 words in %s is found, with its line', (_, text, line) => {
  const sentences = find(text, 'a.tsx').filter((problem) => problem.includes('sentence'))
  expect(sentences).toEqual([expect.stringMatching(new RegExp(`^${line}: a sentence of 3[13] words: `))])
})

test.each([
  ['30 words', `/** ${'word '.repeat(29)}end. */`],
  ['two sentences', `/** ${'word '.repeat(20)}end. ${'word '.repeat(20)}end. */`],
  ['code in backticks', `/** ${'word '.repeat(20)}\`${'word '.repeat(20)}\`. */`],
  ['an example', `/**\n * @example\n * ${long}\n */`],
  ['a string', `const a = '// ${long}'`],
  ['a template', `const a = \`/* ${long} */\``],
  ['a pattern', `const a = /\\/\\/ ${long}/`],
  ['text of JSX', `const a = <p>// ${long}</p>`],
])('%s is no long sentence', (_, text) => {
  expect(find(text, 'a.tsx').filter((problem) => problem.includes('sentence'))).toEqual([])
})

test('a comment may end at column 120 and no further; code may', () => {
  expect(find(`// ${'a'.repeat(117)}`)).toEqual([])
  expect(find(`const a = 1 //${'a'.repeat(107)}`)).toEqual(['1: a comment ends at column 121'])
  expect(find(`const a = '${'a'.repeat(150)}'`)).toEqual([])
})

test('a name that the glossary replaces is found; the same word in a string or a comment is not', () => {
  expect(find('const isLapsed = true')).toEqual(['1: the name `isLapsed`: use expired'])
  expect(find("const state = 'overtaken' // isLapsed")).toEqual([])
})

test('a page is checked without its code, tables and headings', () => {
  const page = `# ${long}\n\n\`\`\`\n${long}\n\`\`\`\n\n| ${long} |\n\n${long}\n\n- ${long}\n`
  expect(find(page, 'README.md')).toEqual(
    [9, 11].map((line) => expect.stringMatching(`^${line}: a sentence of 31 words`)),
  )
})
