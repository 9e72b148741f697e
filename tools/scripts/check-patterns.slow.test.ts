import { expect, test } from 'vitest'
import { findFastestGrowth, usualParts } from './growth.js'
import { makeFolder, runScript } from './test/check-folder.js'

const script = 'scripts/check-patterns.mjs'

/** The check of a workspace that holds some code at `packages/core/src/rule.ts`, or at another path. */
const check = (code: string, path = 'packages/core/src/rule.ts') =>
  runScript(script, makeFolder({ 'packages/a': '', 'examples/a': '', [path]: `// One line.\n${code}\n` }))

test('a pattern that may read the same text many times is rejected', () => {
  const anywhere = 'begins anywhere and goes on after an endless repeat'
  const dividing = 'divides the same text among its repeats'
  const rejected = [
    [String.raw`/[a-z][a-z0-9+.-]*:\/\/\S+/gi`, anywhere],
    [String.raw`/\/+$/`, anywhere],
    ['/block.* not found/', anywhere],
    [String.raw`/"(?:[^"\\]|\\.)*"/`, anywhere],
    ['/a(?=b*)c/', anywhere],
    ['/a{0,5000}b/', anywhere],
    ['/^a+b/m', anywhere],
    [String.raw`/^\d+\d*$/`, dividing],
    ['/^(?:a+)+$/', dividing],
    ["new RegExp('a+b', 'i')", anywhere],
    ['RegExp(String.raw`[a]+b`)', anywhere],
    ["''.match('a+b')", anywhere],
    [['new RegExp(`a$', '{1}b`)'].join(''), 'is put together when the program runs'],
  ]
  const { code, printed } = check(rejected.map(([pattern]) => `export const _ = ${pattern}`).join('\n'))
  for (const [index, [, expected]] of rejected.entries())
    expect(printed).toMatch(new RegExp(`core/src/rule[.]ts:${index + 2}: .*${expected}`))
  expect(printed).toContain(`patterns: ${rejected.length}, ${rejected.length} problems`)
  expect(code).toBe(1)
})

test('a pattern that is anchored, sticky, bounded, or ends with its repeat passes', () => {
  const sound = [String.raw`/^(?:0|[1-9]\d*)(?:\.\d+)?$/`, String.raw`/:\/\/\S+/g`, '/[a-z]{1,31}:/', '/a*b/y']
  const passed = check(sound.map((pattern) => `export const _ = ${pattern}`).join('\n'))
  expect([passed.code, passed.printed]).toEqual([0, 'patterns: 4, 0 problems\n'])
})

test('examples are checked, but tests are not', () => {
  expect(check('/a+b/', 'packages/core/src/rule.test.ts').printed).toContain('patterns: 0, 0 problems')
  expect(check('/a+b/', 'examples/shop/src/shop.ts').code).toBe(1)
})

test('every shipped pattern takes linear time on repeats of its own parts', async () => {
  const { printed } = runScript(script, '--list')
  const patterns = JSON.parse(printed) as { file: string; source: string | null; flags: string }[]
  expect(patterns.length).toBeGreaterThan(100)
  const unique = new Map(patterns.map((pattern) => [`/${pattern.source}/${pattern.flags}`, pattern]))
  const slow: string[] = []
  for (const [text, { file, source, flags }] of unique) {
    if (source === null) continue
    const words = source.match(/[A-Za-z0-9]{2,20}/g) ?? []
    const growth = await findFastestGrowth(
      (given) => given.replace(new RegExp(source, flags), ''),
      ['', '0x', 'https://'],
      [...usualParts, ...words.flatMap((word) => [word, `${word} `])],
    )
    if (growth !== null) slow.push(`${file} ${text}: ${growth}`)
  }
  expect(slow).toEqual([])
})
