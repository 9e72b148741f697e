/** The mutants fit the sources: `npm run mutants` shows that each is killed. @module */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { mutants } from './mutants.js'

describe('the mutants', () => {
  it.each(mutants)('$rule: its text occurs once in the source, and its test exists', ({ file, from, to, test }) => {
    expect(readFileSync(file, 'utf8').split(from)).toHaveLength(2)
    expect(to).not.toBe(from)
    expect(existsSync(test), test).toBe(true)
  })

  it('have different rules', () => {
    expect(new Set(mutants.map(({ rule }) => rule)).size).toBe(mutants.length)
  })
})
