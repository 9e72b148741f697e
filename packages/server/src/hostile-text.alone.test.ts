/** Parsing outside text takes at most linear time. @module */
import { expect, test } from 'vitest'
import { testGrowth } from '../../../tools/scripts/growth.js'
import { problemsIn } from '../test/support/config-problems.js'
import { createBearerCheck } from './app/admin-app.js'
import { listPathInterpretations } from './app/area.js'
import { acceptsGzip, matchesEntityTag } from './app/reference-page.js'
import { findContentTypeFlaw, findEncodingFlaw, parseListQuery } from './app/requests.js'
import { readConfig } from './config/read-config.js'
import { sections } from './config/variables.js'
import { findRangeProblem } from './internal/address-ranges.js'
import { createSourceReader } from './limits/request-limits.js'
import { shortenUrls, toErrorFields } from './logging/log.js'
import { parseTarget } from './run/request-listener.js'
import { createExcerpt } from './sender/exchange.js'

/** Variables with special rules. */
const variables = [
  ...['PI_RPC_URL_1', 'PI_ROUTERS_1', 'PI_SPOKE_POOLS_1', 'PI_TOKENS_1', 'PI_PRICE_FEEDS_1', 'PI_START_BLOCK_1'],
  ...['PI_DATABASE_URL', 'PI_HOST', 'PI_PORT', 'PI_ACTOR', 'PI_MASTER_KEY', 'PI_DNS_SERVERS', 'PI_DELIVERY_DENY'],
  ...['PI_IDENTITY_APP_TOKEN', 'PI_IDENTITY_WEBHOOK_SECRETS', 'PI_PROCESSOR_SECRETS', 'PI_METRICS_TOKEN'],
  'PI_TRUSTED_PROXIES',
]

const { findSource } = createSourceReader(['127.0.0.1', '::1'])
const hasMetricsToken = createBearerCheck('a-token-of-the-tests')
const makeHeaders = (text: string) => ({ get: () => text, has: () => false }) as unknown as Headers

testGrowth(
  {
    'the target of a request': parseTarget,
    'a path': listPathInterpretations,
    'the query of a list': (text) => parseListQuery(`http://a/?${text}`),
    'a content type': (text) => findContentTypeFlaw(makeHeaders(text)),
    'a charset': (text) => findEncodingFlaw(makeHeaders(text)),
    'the proxies of a request': (text) => findSource('127.0.0.1', text),
    'the encodings that a client takes': acceptsGzip,
    'the tags that a client has': (text) => matchesEntityTag(text, '"tag"'),
    'the token of the metrics': hasMetricsToken,
    "the beginning of a receiver's answer": (text) => {
      const excerpt = createExcerpt()
      excerpt.add(Buffer.from(text))
      return excerpt.text()
    },
    'a text of the log': shortenUrls,
    'an error of the log': (text) => toErrorFields(Object.assign(new Error(text), { code: text, stack: text })),
    'a range of addresses': findRangeProblem,
  },
  {
    begins: ['bearer ', '/', '/api/v1/integration/', 'https://a', 'http://', 'postgres://', 'application/json', '0x'],
    parts: [
      ...['/;a', '%252f', '/%2e', '&limit=1', '&cursor=%', 'https://a@', 'https://a/,', `0x${'a'.repeat(40)}@0.8,`],
      ...['1::', '127.0.0.1,', ',127.0.0.1', ', [::1]:80', ',gzip;q=0.', ',"tag'],
    ],
  },
)

/** A text as the value of every variable of a section. */
const readers = Object.entries(sections).map(([title, rows]) => {
  const read = (text: string) => Object.entries(rows).map(([name, row]) => [row.parse(name, text, []), row.mask(text)])
  return [`the variables of ${title}`, read] as const
})

testGrowth(
  {
    ...Object.fromEntries(readers),
    'the whole environment': (text) =>
      readConfig({ PI_DATABASE_URL: text, PI_RPC_URL_1: `http://127.0.0.1:1,${text}` }),
  },
  {
    parts: ['https://a,', `0x${'a'.repeat(40)}@0.8,`, `0x${'a'.repeat(40)}:A:USD,`, '1::,', 'a:b:1,', '[::1]:53,'],
    // Values of more than 65,536 characters are rejected unread.
    lengths: [4_000, 16_000, 64_000],
  },
)

test('the environment is read completely at the longest measured text, and knows every measured variable', () => {
  const problems = problemsIn(() => readConfig(Object.fromEntries(variables.map((name) => [name, '#'.repeat(64_100)]))))
  expect(problems.filter((each) => /characters; 65536 at most|not a known variable/.test(each))).toEqual([])
  expect(problems.length).toBeGreaterThan(variables.length / 2)
})
