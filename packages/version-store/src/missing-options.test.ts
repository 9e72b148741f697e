import { expect, test } from 'vitest'
import { createPostgresVersionStore } from './postgres-version-store.js'
import { createSqliteVersionStore } from './sqlite-version-store.js'

test.each([
  ['createSqliteVersionStore', createSqliteVersionStore, /^database has no prepare\(\)/],
  ['createPostgresVersionStore', createPostgresVersionStore, /^database is none of/],
])('%s() without options is a TypeError that names the option', (_, make, message) => {
  for (const options of [undefined, null, {}]) {
    const call = () => (make as unknown as (given: unknown) => unknown)(options)
    expect(call).toThrow(TypeError)
    expect(call).toThrow(message)
  }
})
