/** Adapts a template to a project: language, modules, test runner, path and folder. @module */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { templatesFolder } from '../files.js'
import type { TestRunner } from './project.js'

export interface Target {
  readonly extension: 'ts' | 'js'
  readonly isCommonJs: boolean
  /** Whether relative imports name the extension. A bundler resolves TypeScript only without an extension. */
  readonly namesExtension: boolean
  readonly testRunner: TestRunner
  readonly path: string
}

/**
 * Reads a template, and adapts its text to the project.
 * @param name - The path of code without its extension, such as `express/webhook`; of another file with it.
 * @param words - Further words to replace, such as `PAYMENTS_FOLDER`.
 */
export async function fromTemplate(name: string, target: Target, words: Readonly<Record<string, string>> = {}) {
  const isCode = !/[.](sql|toml|mjs)$/.test(name)
  let text = await readFile(join(templatesFolder, isCode ? `${name}.ts` : name), 'utf8')
  if (isCode && target.extension === 'js') text = toJavaScript(text)
  for (const [word, replacement] of Object.entries({ '/WEBHOOK_PATH': target.path, ...words }))
    text = text.replaceAll(word, replacement)
  if (!isCode) return text
  // A template test imports only `test` from the runner, and otherwise uses `node:assert`.
  const runner = { 'node:test': 'node:test', vitest: 'vitest', jest: '@jest/globals' }[target.testRunner]
  text = text.replace("import { test } from 'node:test'", `import { test } from '${runner}'`)
  if (!target.namesExtension) text = text.replace(/( from '[.][^']{0,200})[.]js'/g, "$1'")
  return target.isCommonJs ? toCommonJs(text) : text
}

/** Removes the type syntax that templates use, and no other. The formatting stays. */
export function toJavaScript(text: string): string {
  return (
    text
      .split('\n')
      .filter((line) => !line.startsWith('import type '))
      .map((line) => (line.startsWith('import ') ? withoutTypeNames(line) : line))
      .join('\n')
      .replace(/(?:\/\*\* .{0,120} \*\/\n)?export interface .{0,120}\n(?: {2}.{0,120}\n){0,20}\}\n\n/g, '')
      .replace(/^ {2}readonly /gm, '  ')
      // Removes annotations: object types, function types, type names. A name in capitals is a value, not a type.
      .replace(/: \{ readonly [^{}]{0,120}\}/g, '')
      .replace(/: \([^()]{0,120}\) => Promise<\w{1,40}>/g, '')
      .replace(
        /[?]?: (?![A-Z_]{2,40}\b)(?:[A-Z]\w{0,40}|string|number|unknown|void)(?![\w.])(?:<[^<>]{0,120}>)?(?:\[\])?(?: \| undefined)?/g,
        '',
      )
      .replace(/(?<=\w)<[^<>]{0,120}>(?=\()/g, '')
      .replace(/\((await [\w.]{1,60}\(\))\) as \w{1,40}/g, '$1')
      .replace(/ as never\b/g, '')
      // Without types, the parameters fit on one line.
      .replace(/(function \w{1,40})\(\n([^()]{0,240}),\n\)/g, (_, start: string, parameters: string) => {
        return `${start}(${parameters.trim().replace(/\n */g, ' ')})`
      })
  )
}

function withoutTypeNames(line: string): string {
  return line.replace(/(, )?\{ (.{0,120}) \}/, (_, comma = '', names: string) => {
    const values = names.split(', ').filter((name) => !name.startsWith('type '))
    return values.length === 0 ? '' : `${comma}{ ${values.join(', ')} }`
  })
}

/** Rewrites the forms of import and export that templates use as CommonJS. */
export function toCommonJs(text: string): string {
  const names = [...text.matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm)].map(([, name]) => name)
  const body = withRequire(text).replace(/^export (?=(?:async )?(?:function|const|class) )/gm, '')
  return names.length === 0 ? body : `${body}\nmodule.exports = { ${names.join(', ')} }\n`
}

/** Rewrites imports as `require`. A statement may span lines; a quote ends it. */
function withRequire(text: string): string {
  const written: string[] = []
  let statement = ''
  for (const line of text.split('\n')) {
    if (statement === '' && !line.startsWith('import ')) {
      written.push(line)
      continue
    }
    statement += statement === '' ? line.slice('import '.length) : `\n${line}`
    if (!line.endsWith("'")) continue
    const [what = '', from] = statement.split(' from ')
    written.push(from === undefined ? `require(${what})` : `const ${what} = require(${from})`)
    statement = ''
  }
  return written.join('\n')
}
