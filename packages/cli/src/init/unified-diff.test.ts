import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unifiedDiff } from './unified-diff.js'

test('equal texts have no diff', () => {
  expect(unifiedDiff('a', 'x\n', 'x\n')).toEqual([])
})

test('a new file is all additions', () => {
  expect(unifiedDiff('a', null, 'x\ny\n')).toEqual(['--- /dev/null', '+++ b/a', '@@ -0,0 +1,2 @@', '+x', '+y'])
})

test('three lines around each change, and one hunk for changes that touch', () => {
  const before = Array.from({ length: 30 }, (_, line) => `${line}`)
  const after = before.map((line) => (['10', '14', '27'].includes(line) ? `new ${line}` : line))
  expect(
    unifiedDiff('a', `${before.join('\n')}\n`, `${after.join('\n')}\n`).filter((line) => !line.startsWith(' ')),
  ).toEqual([
    ...['--- a/a', '+++ b/a'],
    ...['@@ -8,11 +8,11 @@', '-10', '+new 10', '-14', '+new 14'],
    ...['@@ -25,6 +25,6 @@', '-27', '+new 27'],
  ])
})

test('a missing last line break is shown', () => {
  expect(unifiedDiff('a', 'x', 'x\n').slice(2)).toEqual(['@@ -1,1 +1,1 @@', '-x', '\\ No newline at end of file', '+x'])
})

/** Applies a diff, as `patch` does. */
function patched(before: string, diff: readonly string[]): string {
  const old = before.split('\n').slice(0, -1)
  const lines: string[] = []
  let next = 0
  for (const line of diff) {
    const [, from, length] = /^@@ -(\d+),(\d+) /.exec(line) ?? []
    if (from !== undefined) {
      const start = Number(from) - (length === '0' ? 0 : 1)
      lines.push(...old.slice(next, start))
      next = start
    } else if (line.startsWith('+')) lines.push(line.slice(1))
    else {
      expect(old[next]).toBe(line.slice(1))
      next++
      if (line.startsWith(' ')) lines.push(line.slice(1))
    }
  }
  return [...lines, ...old.slice(next)].map((line) => `${line}\n`).join('')
}

test('for any texts, the diff applied to the old text gives the new one', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c'), { maxLength: 30 })
    .map((all) => all.map((line) => `${line}\n`).join(''))
  fc.assert(
    fc.property(text, text, (before, after) => {
      expect(patched(before, unifiedDiff('a', before, after).slice(2))).toBe(after)
    }),
  )
})
