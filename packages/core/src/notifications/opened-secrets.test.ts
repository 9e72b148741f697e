import { expect, test } from 'vitest'
import { cacheOpenedSecrets } from './attempt.js'

function counting(most?: number) {
  const opened: string[] = []
  const open = cacheOpenedSecrets(({ sealed }, address) => {
    opened.push(`${address} ${sealed}`)
    if (sealed === 'broken') throw new Error('cannot be opened')
    return `opened ${sealed}`
  }, most)
  return { opened, open: (sealed: string, address = 'a', keyVersion = 1) => open({ keyVersion, sealed }, address) }
}

test('a secret is opened once', () => {
  const { open, opened } = counting()
  expect([open('x'), open('x'), open('x')]).toEqual(['opened x', 'opened x', 'opened x'])
  expect(opened).toEqual(['a x'])
})

test('the same text in another row, or under another key, is opened again', () => {
  const { open, opened } = counting()
  open('x')
  open('x', 'b')
  open('x', 'a', 2)
  expect(opened).toEqual(['a x', 'b x', 'a x'])
})

test('what cannot be opened is tried each time', () => {
  const { open, opened } = counting()
  for (const _ of [1, 2]) expect(() => open('broken')).toThrow('cannot be opened')
  expect(opened).toHaveLength(2)
})

test('it keeps as many as it may, and lets the oldest go', () => {
  const { open, opened } = counting(2)
  for (const sealed of ['1', '2', '3', '3', '2', '1']) open(sealed)
  expect(opened).toEqual(['a 1', 'a 2', 'a 3', 'a 1'])
})
