import { expect, test } from 'vitest'
import { parseRetryAfter } from './retry-after.js'

const now = Date.UTC(2026, 2, 4, 12, 0, 0)

test.each([
  ['0', 0],
  ['1', 1_000],
  ['007', 7_000],
  ['120', 120_000],
  ['9'.repeat(400), Number.POSITIVE_INFINITY],
  ['Wed, 04 Mar 2026 12:00:30 GMT', 30_000],
  ['Wed, 04 Mar 2026 12:00:00 GMT', 0],
  ['Wed, 04 Mar 2026 11:59:59 GMT', 0],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
])('%j asks for %d ms', (header, ms) => {
  expect(parseRetryAfter(header, now)).toBe(ms)
})

test.each([
  null,
  '',
  ' ',
  ' 5',
  '5 ',
  '5\n',
  '+5',
  '-5',
  '1.5',
  '1e3',
  '0x10',
  '٣',
  '5, 10',
  'soon',
  'NaN',
  'Infinity',
  '2026-03-04T12:00:30Z',
  'Mon, 04 Mar 2026 12:00:30 GMT',
  'Wed, 4 Mar 2026 12:00:30 GMT',
  'wed, 04 mar 2026 12:00:30 gmt',
  'Wed, 04 Mar 2026 12:00:30 UTC',
  'Wed, 04 Mar 2026 12:00:30 +0000',
  'Wed, 04 Mar 2026 25:00:00 GMT',
  'Mon, 30 Feb 2026 12:00:00 GMT',
  'Wednesday, 04-Mar-26 12:00:30 GMT',
  'Wed Mar  4 12:00:30 2026',
])('%j is ignored', (header) => {
  expect(parseRetryAfter(header, now)).toBeNull()
})
