import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { postgresTypes, sqliteTypes } from './column-types.js'
import { migration9 } from './migration-9.js'

test('the text of migration 9 is what it was', () => {
  const text = [sqliteTypes, postgresTypes].map((types) => migration9(types, (table) => `"${table}"`))
  expect(createHash('sha256').update(JSON.stringify(text)).digest('hex')).toBe(
    'eb80f097bd44d2ba8db6ba7e84dc813f61b457ec9edcb7616a7883ae8de5bd32',
  )
})
