import { expect, test } from 'vitest'
import { postgresVersionStore } from './postgres-version-store.js'
import { sqliteVersionStore } from './sqlite-version-store.js'

test.each([
  ['sqliteVersionStore', sqliteVersionStore, /^database has no prepare\(\)/],
  ['postgresVersionStore', postgresVersionStore, /^database is none of/],
])('%s() without options is a TypeError that names the option', (_, make, message) => {
  for (const options of [undefined, null, {}]) {
    const call = () => (make as unknown as (given: unknown) => unknown)(options)
    expect(call).toThrow(TypeError)
    expect(call).toThrow(message)
  }
})
