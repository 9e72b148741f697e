import { describe, expect, it } from 'vitest'
import { parseLimit } from './read-api.js'

describe('parseLimit', () => {
  it.each([
    [undefined, 50],
    ['1', 1],
    ['50', 50],
    ['200', 200],
  ])('reads %s as %s', (text, limit) => expect(parseLimit(text)).toBe(limit))

  it.each([
    ...['0', '201', '-1', '+5', '1.0', '1e1', ' 5', '5 ', '', '050', '0x10', '٥', '９', 'NaN', '99999999999', '1,0'],
    '5\n',
  ])('rejects %j with ERR_LIMIT_INVALID', (text) => {
    expect(() => parseLimit(text)).toThrow(expect.objectContaining({ code: 'ERR_LIMIT_INVALID' }))
  })
})
