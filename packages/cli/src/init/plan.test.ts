import { expect, test } from 'vitest'
import { unifiedDiff } from './plan.js'

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
