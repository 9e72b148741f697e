/** The core's tests of identity, on a database in place of the store in memory. @module */
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach } from 'vitest'
import { turns } from '../../../core/test/support/manual-clock.js'
import { substituteStores } from '../../../core/test/support/memory-store.js'
import type { Engine } from '../../src/engine.js'
import { isBusy, mirroredStore } from './mirrored-store.js'

const folder = fileURLToPath(new URL('../../../core/src/identity/', import.meta.url))

/** The test files whose result depends on the store. Rules of the core alone run in the core's tests. */
const files = ['promises', 'ownership', 'ownership-of-provers', 'second-token', 'share', 'accounts']

/**
 * Registers the tests.
 * @param name - Of the engine: modules are loaded once for each name.
 * @param open - An empty, migrated database with that clock, in unix milliseconds.
 */
export async function identityPromises(name: string, open: (now: () => number) => Promise<Engine>): Promise<void> {
  beforeEach(() => {
    substituteStores({ build: ({ now = () => 0 }) => mirroredStore(open(now)), isBusy })
  })
  afterEach(async () => {
    await turns()
    substituteStores(null)
  })
  for (const file of files) await import(/* @vite-ignore */ `${folder}${file}.test.ts?${name}`)
}
