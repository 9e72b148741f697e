/** Checks that each error code of the sources has a row with cause and cure, and each row a code. @module */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { errorRows } from '../site/generate/errors-page.js'
import { repositoryFiles } from '../site/generate/routes.js'

const root = join(import.meta.dirname, '../..')
const files = repositoryFiles(root)
/** Codes of Node that the packages recognise. */
const foreign = new Set([
  'ERR_MODULE_NOT_FOUND',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_HTTP_REQUEST_TIMEOUT',
  'ERR_SQLITE_ERROR',
])
/** What several codes begin with. */
const prefixes = new Set(['ERR_MIRROR', 'ERR_PROVIDER_', 'ERR_PROVIDER_WEBHOOK_'])
const codes = new Set(
  files
    .filter((file) => /^packages\/[^/]+\/src\/.*[.]tsx?$/.test(file) && !/[.]test(-d)?[.]ts$/.test(file))
    .flatMap((file) => [...readFileSync(join(root, file), 'utf8').matchAll(/\b(ERR_[A-Z0-9_]+)\b/g)])
    .map(([, code = '']) => code)
    .filter((code) => !foreign.has(code) && !prefixes.has(code)),
)
const rows = errorRows(root, files)

test('every error code of the sources has a row with its cause and cure', () => {
  const listed = new Set(rows.map(({ code }) => code))
  expect([...codes].filter((code) => !listed.has(code)).toSorted()).toEqual([])
})

test('every row names a code of the sources', () => {
  expect(rows.filter(({ code }) => !codes.has(code)).map(({ code, file }) => `${file}: ${code}`)).toEqual([])
})

test('every row has a cause and a cure', () => {
  expect(rows.filter(({ cause, cure }) => cause === '' || cure === '').map(({ code }) => code)).toEqual([])
})
