/** Opens a mirror for a test, with tables of its own. */
import { afterAll, expect } from 'vitest'
import { integrationAddress } from '../../client/test/fixtures.js'
import { paymentHash, type startService } from '../../client/test/service.js'
import { createMirror, type MirrorOptions } from '../src/exports/index.js'
import { getBodies, getCopy, getDelivery, makeSnapshot, payments, secret } from './copy.js'
import { type Engine, nextPrefix } from './engines.js'

type Service = Awaited<ReturnType<typeof startService>>

/** A database that closes after the tests of its group, and mirrors on one connection of it. */
export async function useEngine(open: () => Promise<Engine>) {
  const engine = await open()
  afterAll(() => engine.close())
  const database = engine.connect()

  /** A migrated mirror, whose prefix is new unless the options name one. */
  async function openMirror(service: Service, options: Partial<MirrorOptions> = {}) {
    const { prefix = nextPrefix() } = options
    const client = service.client()
    const usual = { database, client, integrationAddress, secrets: secret, prefix, onEvent: () => {} }
    const mirror = createMirror({ ...usual, ...options })
    await mirror.migrate()
    return {
      ...mirror,
      prefix,
      deliver: async (n: number) =>
        mirror.receive(await getDelivery(makeSnapshot(await client.payments.get(paymentHash(n))))),
      /** Fails unless every typed column and every body equal the read API. */
      async expectFullCopy() {
        const expected = await payments(service.client())
        expect(await getCopy(engine, prefix)).toEqual(expected)
        expect(await getBodies(engine, prefix)).toEqual(expected)
      },
    }
  }
  return { engine, openMirror }
}
