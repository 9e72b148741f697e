import { describe, expect, it } from 'vitest'
import { findDuplicateKey } from '../values.js'

describe('findDuplicateKey', () => {
  it.each([
    ['{"a":1,"a":2}', 'a'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"x":{"b":1,"c":{},"b":2}}', 'b'],
    ['[{"a":1},{"a":1,"a":1}]', 'a'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ])('finds it in %s', (json, key) => expect(findDuplicateKey(json)).toBe(key))

  it.each([
    ...['{"a":1,"b":{"a":1}}', '[{"a":1},{"a":1}]', '{"a":"a","b":["a","a"]}', '{"a":"\\",\\"a\\":1"}'],
    ...['{"a":"{","b":",","c":"\\\\"}', 'null', '"a"'],
  ])('finds none in %s', (json) => expect(findDuplicateKey(json)).toBeNull())
})
