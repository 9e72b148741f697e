/** Tests: integrations by address. @module */
import { expect } from 'vitest'
import { insertIntegration, integration, otherShop, shop, updateIntegration } from './fixtures.js'
import type { StoreTest } from './subject.js'

const full = integration({
  name: 'Käse & "Co" \u0000',
  previousApiSecret: { keyVersion: 1, hash: 'cd'.repeat(32), until: 1_800_000_000_000 },
  preparedSigningSecret: { keyVersion: 2, sealed: 'bmV4dA' },
  previousSigningSecret: { keyVersion: 1, sealed: 'YmVmb3Jl', until: 1_800_000_000_001 },
})
export function integrationTests(test: StoreTest): void {
  test('an integration is read with every field as stored', async ({ store }) => {
    const bare = integration({ address: otherShop, notificationUrl: null, apiSecret: null, enabled: false })
    expect(await insertIntegration(store, full)).toBe(true)
    expect(await insertIntegration(store, bare)).toBe(true)
    expect(await store.integrations.find(shop)).toEqual(full)
    expect(await store.integrations.find(otherShop)).toEqual(bare)
  })

  test('credentials are the stored ones, and for unknown addresses stand-ins that never match', async ({ store }) => {
    const absent = {
      current: { keyVersion: 8, hash: '88'.repeat(32) },
      previous: { keyVersion: 9, hash: '99'.repeat(32), until: 7 },
    }
    const credentials = () => store.integrations.credentials(shop, absent)
    const nothing = { isUsable: false, current: absent.current, previous: { ...absent.previous, until: 0 } }
    expect(await credentials()).toEqual(nothing)
    await insertIntegration(store, full)
    const { apiSecret: current, previousApiSecret: previous } = full
    expect(await credentials()).toEqual({ isUsable: true, current, previous })
    await updateIntegration(store, shop, { enabled: false })
    expect(await credentials()).toEqual({ isUsable: false, current, previous })
    await updateIntegration(store, shop, { enabled: true, previousApiSecret: null })
    expect(await credentials()).toEqual({ ...nothing, isUsable: true, current })
    await updateIntegration(store, shop, { apiSecret: null, previousApiSecret: previous })
    expect(await credentials()).toEqual({ isUsable: false, current: absent.current, previous })
    expect(await store.integrations.credentials(otherShop, absent)).toEqual(nothing)
  })

  test('an unknown address is not found', async ({ store }) => {
    expect(await store.integrations.find(shop)).toBeNull()
    expect(await updateIntegration(store, shop, { enabled: false })).toBeNull()
    expect(await store.integrations.list()).toEqual([])
  })

  test('of some addresses, those of integrations are registered, disabled ones too', async ({ store }) => {
    await insertIntegration(store, integration({ enabled: false }))
    const registered = (...addresses: string[]) => store.transaction((tx) => tx.registeredIntegrations(addresses))
    expect(await registered(otherShop, shop, shop)).toEqual(new Set([shop]))
    expect(await registered()).toEqual(new Set())
  })

  test('a taken address is rejected and keeps its record', async ({ store }) => {
    await insertIntegration(store, full)
    expect(await insertIntegration(store, integration({ name: 'Thief' }))).toBe(false)
    expect(await store.integrations.find(shop)).toEqual(full)
  })

  test('integrations are listed by address', async ({ store }) => {
    const [low, high] = [shop, otherShop].sort()
    await insertIntegration(store, integration({ address: high ?? '' }))
    await insertIntegration(store, integration({ address: low ?? '' }))
    expect((await store.integrations.list()).map(({ address }) => address)).toEqual([low, high])
  })

  test('an update replaces the fields given and no other', async ({ store }) => {
    await insertIntegration(store, full)
    for (const change of [
      { enabled: false },
      { name: '' },
      { notificationUrl: null },
      { apiSecret: null },
      { apiSecret: { keyVersion: 2, hash: 'ef'.repeat(32) } },
      { previousApiSecret: null },
      { signingSecret: { keyVersion: 3, sealed: 'bmV3' } },
      { preparedSigningSecret: null },
      { preparedSigningSecret: { keyVersion: 4, sealed: 'cHJlcGFyZWQ' } },
      { previousSigningSecret: null },
      { previousSigningSecret: { keyVersion: 3, sealed: 'bmV3', until: 1_900_000_000_000 } },
      {},
    ]) {
      const before = await store.integrations.find(shop)
      const after = await updateIntegration(store, shop, change)
      expect(after).toEqual({ ...before, ...change })
      expect(await store.integrations.find(shop)).toEqual(after)
    }
  })
}
