import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseFreshHeader } from './fresh-signature-header.js'

const t = 1_700_000_000
const v1 = 'a'.repeat(64)
const getVerdict = (header: string) => {
  const claim = parseFreshHeader(header, t * 1000, 300)
  return 'code' in claim ? claim.code : 'ok'
}

test('a header is read as a plain reading of its grammar reads it', () => {
  const field = fc.oneof(
    fc.constantFrom(`t=${t}`, `v1=${v1}`, `v1=${'b'.repeat(64)}`, `t=0${t}`, 't=', 'v1=', `v1=${v1}0`, 'v2=x', ''),
    fc.string({ unit: fc.constantFrom('t', 'v', '1', '=', ' ', '\t', '\n', '\u00a0', 'é'), maxLength: 6 }),
  )
  const padded = fc.tuple(fc.constantFrom('', ' ', '\t '), field, fc.constantFrom('', ' ', ' \t'))
  const twoTimes = [`t=${t}`, `t=${t}`, `v1=${v1}`].map((field): [string, string, string] => ['', field, ''])
  const headers = fc.array(padded, { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(headers, (fields) => {
      const header = fields.map((parts) => parts.join('')).join(',')
      const claim = parseFreshHeader(header, t * 1000, 300)
      expect('code' in claim ? claim.code : claim.codes).toEqual(plainly(header))
    }),
    // Random headers alone seldom have two times and a code.
    { numRuns: 3000, examples: [[twoTimes]] },
  )
})

/** The same grammar field by field, without regard to cost. */
function plainly(header: string): string | string[] {
  if (header.trim() === '') return 'ERR_SIGNATURE_MISSING'
  const fields = header.split(',').map((field) => /^[ \t]*([^\s=]+)=(.*?)[ \t]*$/s.exec(field)?.slice(1))
  if (fields.includes(undefined)) return 'ERR_SIGNATURE_MALFORMED'
  const of = (name: string) => fields.filter((field) => field?.[0] === name).map((field) => field?.[1] ?? '')
  const [times, codes] = [of('t'), of('v1')]
  const wellFormed =
    times.length === 1 &&
    times.every((time) => /^(0|[1-9][0-9]{0,11})$/.test(time)) &&
    codes.every((code) => /^[0-9a-f]{64}$/.test(code))
  if (!wellFormed || codes.length > 8) return 'ERR_SIGNATURE_MALFORMED'
  if (codes.length === 0) return 'ERR_SIGNATURE_SCHEME'
  // No random time is later than `t`.
  return Number(times[0]) < t - 300 ? 'ERR_DELIVERY_STALE' : codes
}

const good = `t=${t},v1=${v1}`

test('a header of more than 4096 characters is rejected unread', () => {
  const padded = (length: number) => `${good},x=`.padEnd(length, 'y')
  expect(getVerdict(padded(4096))).toBe('ok')
  expect(getVerdict(padded(4097))).toBe('ERR_SIGNATURE_MALFORMED')
  expect(getVerdict(' '.repeat(4096))).toBe('ERR_SIGNATURE_MISSING')
  expect(getVerdict(' '.repeat(4097))).toBe('ERR_SIGNATURE_MALFORMED')
  for (const long of ['a=,', '   ', '\n'].map((piece) => piece.repeat(10_000_000))) {
    // Built anew by its first reading: what is measured is the rejection alone.
    expect(long[long.length - 1]).toBe(long.at(-1))
    const before = process.cpuUsage()
    for (let round = 0; round < 20; round++) expect(getVerdict(long)).toBe('ERR_SIGNATURE_MALFORMED')
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1000, JSON.stringify(long.slice(0, 3))).toBeLessThan(100)
  }
})
