/** Compares the table of docs/configuration.md with what the server reads: names, ranges, choices, defaults. @module */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../packages/server/src/config/read-config.js'

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'packages/server/src/config')
const name = /PI_[A-Z][A-Z0-9_]*/g
/** Names in the code: those that end with `_` are prefixes, whose rest is a chain id or another word. */
const read = new Set(
  readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) => [...readFileSync(join(folder, file), 'utf8').matchAll(/['`](PI_[A-Z][A-Z0-9_]*)/g)])
    .map(([, found = '']) => found),
)
const page = readFileSync(join(root, 'docs/configuration.md'), 'utf8')
const rows = page.split('\n').filter((line) => line.startsWith('| `PI_'))
const listed = new Set(rows.flatMap((row) => row.split(' | ')[0]?.match(name) ?? []))

test('every variable that the server reads has a row', () => {
  const missing = [...read].filter((each) => ![...listed].some((row) => row === each || row.startsWith(each)))
  expect(missing.toSorted()).toEqual([])
})

test('every row names a variable that the server reads', () => {
  const prefixes = [...read].filter((each) => each.endsWith('_'))
  const unknown = [...listed].filter((row) => !read.has(row) && !prefixes.some((prefix) => row.startsWith(prefix)))
  expect(unknown.toSorted()).toEqual([])
})

/** Sets every variable that others need, so that each one is read. */
const base: Readonly<Record<string, string>> = {
  PI_ENV: 'development',
  PI_MASTER_KEY: Buffer.from(Array.from({ length: 32 }, (_, at) => at * 7 + 1)).toString('base64url'),
  PI_DATABASE_URL: 'postgres://pay@127.0.0.1/pay',
  PI_DATABASE_READ_URL: 'postgres://pay@127.0.0.1:5433/pay',
  PI_RPC_URL_1: 'http://127.0.0.1:8545',
  PI_ADMIN_PORT: '4748',
  PI_IDENTITY_APP_TOKEN: 'app-token',
  PI_IDENTITY_SECRET_KEY: 'secret key',
  PI_IDENTITY_LEVEL: 'level',
  PI_IDENTITY_WEBHOOK_SECRETS: 'webhook secret',
  PI_OIDC_ISSUER: 'https://id.example',
  PI_OIDC_CLIENT_ID: 'client',
  PI_OIDC_CLIENT_SECRET: 'secret',
  PI_CONSOLE: 'on',
  PI_CONSOLE_URL: 'https://pay.example',
}

/** The variables of the table on their own, for chain 1, with the cells of their row. */
const variables = rows.flatMap((row) => {
  const [names = '', meaning = '', fallback = ''] = row.slice(2, -2).split(' | ')
  return [...names.matchAll(/`(PI_[^`]+)`/g)].map(([, variable = '']) => ({
    variable: variable.replace('<chainId>', '1'),
    meaning,
    fallback,
  }))
})

/** What the server says of a value that nobody means. */
function refusalOf(variable: string): string {
  try {
    readConfig({ ...base, [variable]: '?' })
    return ''
  } catch (error) {
    const problems = (error as { problems: readonly string[] }).problems
    return problems.filter((problem) => problem.startsWith(`${variable} `)).join(' ')
  }
}

/** Another variable is the end of this range. */
const relative = new Set(['PI_DELIVERY_PER_ENDPOINT'])
/** The store and the chain apply these; the last belongs to a database without a standby. */
const appliedElsewhere = new Set([
  'PI_DATABASE_POOL',
  'PI_DATABASE_STATEMENT_TIMEOUT_MS',
  'PI_DATABASE_LOCK_TIMEOUT_MS',
  'PI_MAX_RANGE_1',
  'PI_DATABASE_URL',
])

const ranged = variables.flatMap((each) => {
  const found = / from (\d+) to (\d+), in plain digits/.exec(refusalOf(each.variable))
  const isEndless = Number(found?.[2]) === Number.MAX_SAFE_INTEGER
  return found === null || isEndless || relative.has(each.variable)
    ? []
    : [{ ...each, range: `${found[1]} to ${found[2]}` }]
})
const chosen = variables.flatMap((each) => {
  const found = /expected one of ([^.]+)\./.exec(refusalOf(each.variable))
  return found?.[1] === undefined ? [] : [{ ...each, choices: found[1].split(', ') }]
})
/** Defaults that are a value alone. */
const defaults = variables.flatMap((each) => {
  const value = /^`([^`]+)`$/.exec(each.fallback)?.[1]
  return value === undefined || appliedElsewhere.has(each.variable) ? [] : [{ ...each, value }]
})

describe('ranges, choices and defaults', () => {
  test('are found', () => {
    expect(Math.min(ranged.length, chosen.length, defaults.length)).toBeGreaterThan(10)
  })

  test.each(ranged)('$variable takes $range, as its row says', ({ meaning, range }) => {
    expect(meaning).toContain(range)
  })

  test.each(chosen)('$variable takes the choices of its row', ({ meaning, choices }) => {
    expect(choices.filter((choice) => !meaning.includes(`\`${choice}\``))).toEqual([])
  })

  test.each(defaults)('$variable is $value when it is not set, as its row says', ({ variable, value }) => {
    const { [variable]: _, ...others } = base
    expect(readConfig({ ...others, [variable]: value })).toEqual(readConfig(others))
  })
})
