/** The audit records of account commands. Source: docs/decisions/audit.md. */
import type { LinkConfig } from '@payment-integration/contract'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../test/support/store.js'
import { createAudited } from '../history/audit-log.js'
import { parseMasterKey } from '../secrets/keys.js'
import { type AccountInput, createAccountCommands } from './accounts.js'

const address = `0x${'Ab'.repeat(20)}`
const other = `0x${'Cd'.repeat(20)}`
const config: LinkConfig = {
  coins: [
    { chainId: 1, tokens: [{ symbol: 'USDC' }] },
    { chainId: 137, defaultAddress: other, tokens: [{ symbol: 'USDC' }] },
  ],
  onCompleteAction: { type: 'REDIRECT', payload: { url: 'https://shop.example/thanks?order=1' } },
}
const input: AccountInput = { handle: 'Shop', address, config }
const keys = parseMasterKey('00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f')
const clock = { now: () => 5 }

function setupWithLog() {
  const store = openStore()
  const audited = createAudited({ transaction: store.transaction, keys, clock, actor: 'operator:ada' })
  const log = () => store.committed.audit
  return { accounts: createAccountCommands({ accounts: store.accounts, audited, keys, clock }), log }
}

describe('the audit log', () => {
  it('names the actor, where an account is paid, and a fingerprint of its configuration', async () => {
    const { accounts, log } = setupWithLog()
    await accounts.create(input)
    await accounts.change('shop', { address: other })
    await accounts.change('shop', { config: { coins: [] } })
    await accounts.remove('shop')
    const [own, next] = [address.toLowerCase(), other.toLowerCase()]
    const [full, empty] = [expect.stringMatching(/^[0-9a-f]{12}$/), expect.stringMatching(/^[0-9a-f]{12}$/)]
    expect(log().map(({ actor, action, subject, details }) => [actor, action, subject, details])).toEqual([
      ['operator:ada', 'account.created', 'shop', { paidTo: `${own}, 137: ${next}`, config: full }],
      [
        ...['operator:ada', 'account.changed', 'shop'],
        {
          ...{ paidToFrom: `${own}, 137: ${next}`, paidToTo: `${next}, 137: ${next}` },
          ...{ configFrom: full, configTo: full },
        },
      ],
      [
        ...['operator:ada', 'account.changed', 'shop'],
        { paidToFrom: `${next}, 137: ${next}`, paidToTo: next, configFrom: full, configTo: empty },
      ],
      ['operator:ada', 'account.removed', 'shop', { paidTo: next, config: empty }],
    ])
    const [, moved, changed] = log()
    expect(moved?.details['configFrom']).toBe(moved?.details['configTo'])
    expect(changed?.details['configFrom']).not.toBe(changed?.details['configTo'])
    expect(JSON.stringify(log())).not.toMatch(/USDC|thanks/)
  })

  it('has no record of a command that changed nothing', async () => {
    const { accounts, log } = setupWithLog()
    await accounts.create(input)
    await expect(accounts.create(input)).rejects.toThrow()
    await expect(accounts.remove('nobody')).rejects.toThrow()
    expect(log()).toHaveLength(1)
  })
})
