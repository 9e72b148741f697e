import { describe, expect, it } from 'vitest'
import { parseTarget } from '../run/request-listener.js'
import { findArea } from './area.js'

const long = (unit: string, length = 7_000) => unit.repeat(Math.ceil(length / unit.length))

describe('a path that is long', () => {
  it.each([
    [`/${long('a')}`, null],
    [`/api/v1/integration/payments/${long('a')}`, 'integration'],
    [`/api/v1/tx/1/${long('a')}`, 'legacy'],
  ])('and plain is read to its end: %.40s', (path, area) => {
    expect(findArea(path)).toBe(area)
    expect(parseTarget(path)).toBe(path)
  })

  it.each([
    ['%2541', 'integration'],
    ['%', 'integration'],
    ['/', 'integration'],
    ['//a', 'integration'],
    ['a/../', 'integration'],
    ['/api/v1//integration/', 'integration'],
    ['/api/v1/%74x/', 'legacy'],
    ['/API/v1/verify;a/', 'legacy'],
  ])('and could be read in several ways asks for credentials, and exists nowhere: /%s…', (unit, area) => {
    expect(findArea(`/${long(unit)}`)).toBe(area)
    const folder = area === 'legacy' ? 'tx' : 'integration'
    expect(parseTarget(`/${long(unit)}`)).toBe(`/api/v1/${folder}/unreadable`)
  })

  it('belongs to the same API at any length', () => {
    for (const unit of ['%2541', '%25', '%', '/a/', '/./', '/%2e%2e', '%2f', 'a;', '%c3'])
      expect([unit, findArea(`/${long(unit, 1_100)}`)]).toEqual([unit, findArea(`/${long(unit, 8_000)}`)])
  })

  it('is measured without its query', () => {
    const target = `/openapi.json?${long('%26')}`
    expect([parseTarget(target), parseTarget(`/nowhere.x?${long('/')}`)]).toEqual([target, `/nowhere.x?${long('/')}`])
  })
})
