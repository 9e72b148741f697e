import type { LinkConfig } from '@payment-integration/contract'
import { expect, it } from 'vitest'
import { openStore } from '../../test/support/store.js'
import { createAudited } from '../history/audit-log.js'
import { parseMasterKey } from '../secrets/keys.js'
import { type AccountInput, createAccountCommands, parseHandle } from './accounts.js'

const address = `0x${'Ab'.repeat(20)}`
const other = `0x${'Cd'.repeat(20)}`
const token = `0x${'Ef'.repeat(20)}`
const [own, next] = [address.toLowerCase(), other.toLowerCase()]
const config: LinkConfig = {
  coins: [
    { chainId: 1, tokens: [{ symbol: 'USDC' }] },
    { chainId: 137, defaultAddress: other, tokens: [{ symbol: 'USDC.e', address: token }] },
  ],
  onCompleteAction: { type: 'REDIRECT', payload: { url: 'https://shop.example/thanks?order=1' } },
}
const input: AccountInput = { handle: 'Shop', address, config }

const keys = parseMasterKey('00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f')
const clock = { now: () => 5 }

function setup() {
  const store = openStore()
  const audited = createAudited({ transaction: store.transaction, keys, clock, actor: 'operator:ada' })
  const log = () => store.committed.audit
  return { accounts: createAccountCommands({ accounts: store.accounts, audited, keys, clock }), log }
}

it('an account is made with its handle and every address lowercased', async () => {
  const { accounts } = setup()
  const record = await accounts.create(input)
  const tokens = [{ symbol: 'USDC.e', address: token.toLowerCase() }]
  const coins = [config.coins[0], { chainId: 137, defaultAddress: next, tokens }]
  expect(record).toEqual({ handle: 'shop', address: own, createdAt: 5, config: { ...config, coins } })
  expect(await accounts.get('SHOP')).toEqual(record)
  expect(await accounts.list()).toEqual([record])
})

it('an account is made once per handle, in any case', async () => {
  const { accounts } = setup()
  await accounts.create(input)
  const creating = accounts.create({ ...input, handle: 'sHOP', address: other })
  await expect(creating).rejects.toMatchObject({ code: 'ERR_ACCOUNT_EXISTS' })
  expect((await accounts.get('shop')).address).toBe(own)
})

it.each(['none', '', 'ş', '__proto__', `0x${'a'.repeat(40)}`])('an account is not found under %j', async (handle) => {
  const { accounts } = setup()
  const code = 'ERR_ACCOUNT_NOT_FOUND'
  await expect(accounts.get(handle)).rejects.toMatchObject({ code })
  await expect(accounts.change(handle, { address })).rejects.toMatchObject({ code })
  await expect(accounts.remove(handle)).rejects.toMatchObject({ code })
})

const coin = { chainId: 1, tokens: [] }
const withAction = (onCompleteAction: unknown) => ({ config: { coins: [], onCompleteAction } })
const withCoin = (change: object) => ({ config: { coins: [{ ...coin, ...change }] } })
const redirect = (url: string) => withAction({ type: 'REDIRECT', payload: { url } })
const close = (delayMilliseconds: unknown) => withAction({ type: 'CLOSE_WINDOW', payload: { delayMilliseconds } })

it.each<[string, object, RegExp]>([
  ['a handle with a space', { handle: 'a b' }, /^handle: expected/],
  ['a handle in the shape of an address', { handle: address }, /^handle: .*not in the shape of an address/],
  ['a short address', { address: '0xab' }, /^address: expected 0x and 40 hex digits$/],
  ['no configuration', { config: null }, /^config: expected object$/],
  ['no coins', { config: {} }, /^config\.coins: expected array$/],
  ['an unknown field', { config: { coins: [], secret: 1 } }, /^config has 1 field\(s\) that a link/],
  ['an unknown field of a coin', withCoin({ secret: 1 }), /^config\.coins\.0 has 1 field\(s\)/],
  ['a chain id of 0', withCoin({ chainId: 0 }), /^config\.coins\.0\.chainId: expected 1 or more$/],
  ['a chain id with a fraction', withCoin({ chainId: 1.5 }), /^config\.coins\.0\.chainId: expected int$/],
  ['a chain id of 16 digits', withCoin({ chainId: 1e15 }), /^config\.coins\.0\.chainId: expected 15 digits at most$/],
  ['a chain twice', { config: { coins: [coin, coin] } }, /^config\.coins: names a chain twice$/],
  ['a bad defaultAddress', withCoin({ defaultAddress: 'me.eth' }), /^config\.coins\.0\.defaultAddress: expected/],
  ['an empty symbol', withCoin({ tokens: [{ symbol: '' }] }), /^config\.coins\.0\.tokens\.0\.symbol: expected/],
  ['a long symbol', withCoin({ tokens: [{ symbol: 'x'.repeat(65) }] }), /symbol: expected 64 characters at most$/],
  ['a bad token', withCoin({ tokens: [{ symbol: 'A', address: '0x' }] }), /tokens\.0\.address: expected 0x and/],
  ['an unknown action', withAction({ type: 'EXPLODE' }), /^config\.onCompleteAction\.type: expected NOTHING, REDIRECT/],
  ['no payload', withAction({ type: 'REDIRECT' }), /^config\.onCompleteAction\.payload: expected object$/],
  ['an unknown payload', withAction({ type: 'NOTHING', payload: null }), /^config\.onCompleteAction has 1/],
  ['a script as URL', redirect('javascript:alert(1)'), /onCompleteAction\.payload\.url: expected an absolute URL/],
  ['a relative URL', redirect('/thanks'), /payload\.url: expected an absolute URL/],
  ['a URL without host', redirect('https://'), /payload\.url: expected an absolute URL/],
  ['a URL with credentials', redirect('https://shop.example@evil.example/'), /payload\.url: .*without credentials$/],
  ['a URL with a line feed', redirect('https://shop.example/\nx'), /payload\.url: expected an absolute URL/],
  ['a URL with a bell', redirect('https://shop.example/\u0007'), /payload\.url: expected an absolute URL/],
  ['a URL with a lone surrogate', redirect('https://shop.example/\ud800'), /payload\.url: expected an absolute URL/],
  ['a backslash', redirect('https://shop.example\\@evil.example/'), /payload\.url: expected an absolute URL/],
  ['a long URL', redirect(`https://shop.example/${'x'.repeat(2_048)}`), /url: expected 2048 characters at most$/],
  ['a negative delay', close(-1), /delayMilliseconds: expected 0 or more$/],
])('an account with a flaw is rejected, with the field and the reason: %s', async (_what, flaw, message) => {
  const { accounts } = setup()
  const failure = { code: 'ERR_ACCOUNT_INVALID', message: expect.stringMatching(message) }
  await expect(accounts.create({ ...input, ...flaw } as AccountInput)).rejects.toMatchObject(failure)
  expect(await accounts.list()).toEqual([])
  if ('handle' in flaw) return
  const before = await accounts.create(input)
  await expect(accounts.change('shop', flaw)).rejects.toMatchObject(failure)
  expect(await accounts.list()).toEqual([before])
})

it.each([redirect('http://localhost:8080/a?b=c#d'), close(0), close(86_400_000), withAction({ type: 'NOTHING' })])(
  'an account is accepted with %j',
  async (change) => {
    expect(await setup().accounts.create({ ...input, ...change } as AccountInput)).toMatchObject(change)
  },
)

it('the audit log names the actor, where an account is paid, and a fingerprint of its configuration', async () => {
  const { accounts, log } = setup()
  await accounts.create(input)
  await accounts.change('SHOP', { address: other })
  await accounts.change('shop', { config: { coins: [] } })
  await accounts.remove('SHOP')
  expect(await accounts.list()).toEqual([])
  const before = `${own}, 137: ${next}`
  const after = `${next}, 137: ${next}`
  const change = ['operator:ada', 'account.changed', 'shop']
  const [full, empty] = [expect.stringMatching(/^[0-9a-f]{12}$/), expect.stringMatching(/^[0-9a-f]{12}$/)]
  expect(log().map(({ actor, action, subject, details }) => [actor, action, subject, details])).toEqual([
    ['operator:ada', 'account.created', 'shop', { paidTo: before, config: full }],
    [...change, { paidToFrom: before, paidToTo: after, configFrom: full, configTo: full }],
    [...change, { paidToFrom: after, paidToTo: next, configFrom: full, configTo: empty }],
    ['operator:ada', 'account.removed', 'shop', { paidTo: next, config: empty }],
  ])
  const [, moved, changed] = log()
  expect(moved?.details['configFrom']).toBe(moved?.details['configTo'])
  expect(changed?.details['configFrom']).not.toBe(changed?.details['configTo'])
  expect(JSON.stringify(log())).not.toMatch(/USDC|thanks/)
})

it.each([
  ['shop', 'shop'],
  ['Shop-7', 'shop-7'],
  ['a', 'a'],
  ['7', '7'],
  ['vitalik.eth', 'vitalik.eth'],
  ['a_b--c..d', 'a_b--c..d'],
  ['A'.repeat(63), 'a'.repeat(63)],
  [`0x${'a'.repeat(39)}`, `0x${'a'.repeat(39)}`],
])('reads the handle %s', (text, handle) => expect(parseHandle(text)).toBe(handle))

it.each([
  ...['', '-a', 'a-', '.a', 'a_', 'a b', ' a', 'a\n'],
  'a'.repeat(64),
  ...['a/b', 'a\u0000', '\u212aiosk'], // the Kelvin sign lowercases to k
  'ſhop', // the long s uppercases to S
  'şhop',
  ...['\uff53hop', `0x${'a'.repeat(40)}`, `0X${'A'.repeat(40)}`],
])('rejects the handle %j', (text) => expect(parseHandle(text)).toBeNull())
