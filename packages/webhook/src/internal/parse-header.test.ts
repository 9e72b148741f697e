import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { WebhookError } from '../errors.js'
import { parseField, parseSignatureHeader } from './parse-header.js'

test.each([
  ['a=b', ['a', 'b']],
  [' \t a=b\t ', ['a', 'b']],
  ['a=b c=d', ['a', 'b c=d']],
  ['a=', ['a', '']],
  ['a= \t', ['a', '']],
  ['a= b', ['a', ' b']],
  ['a', undefined],
  ['=b', undefined],
  [' =b', undefined],
  ['a =b', undefined],
  ['a b=c', undefined],
  ['a=b\nc', undefined],
  ['', undefined],
])('the field %j is read as %j', (field, expected) => {
  expect(parseField(field)).toEqual(expected)
})

test('a field is read as the grammar in one expression reads it', () => {
  const grammar = /^[ \t]*([^=\s]+)=(.*?)[ \t]*$/
  const fields = fc.string({
    unit: fc.constantFrom('a', '=', ' ', '\t', '\n', '\r', '\u2028', '\u00a0', 'é'),
    maxLength: 9,
  })
  fc.assert(
    fc.property(fields, (field) => {
      expect(parseField(field)).toEqual(grammar.exec(field)?.slice(1))
    }),
    { numRuns: 5000 },
  )
})

test('the time of a field grows with its length, not with its square', () => {
  const spent = (field: string) => {
    const before = process.cpuUsage()
    parseField(field)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
  // By the square, these 64 KiB would take seconds: the 4 KiB that a header may have took 17 ms.
  expect(spent(`t=${' '.repeat(65_536)}x`)).toBeLessThan(500)
  expect(spent(`${' '.repeat(65_536)}x`)).toBeLessThan(500)
})

test('a header of more than 4096 characters is refused unread, however it is split', () => {
  const refused = (header: unknown) => {
    try {
      parseSignatureHeader(header)
    } catch (error) {
      return (error as WebhookError).message
    }
    return 'accepted'
  }
  const field = `x=${'y'.repeat(2046)}`
  expect(refused(`${field},${field}`)).toContain('more than 4096 characters')
  expect(refused([field, field])).toContain('more than 4096 characters')
  expect(refused(`${field},${field.slice(0, -1)}`)).toContain('t is missing')
})
