import type { LinkConfig, VerifyRequest } from '@payment-integration/contract'
import { describe, expect, it } from 'vitest'
import {
  accepting,
  account,
  address,
  amount,
  anyUsdc,
  currency,
  elsewhere,
  link,
  paid,
  receiver,
  setup,
  usdc,
} from '../../test/support/legacy-setup.js'
import { plainPricing } from '../../test/support/stored-payment.js'
import type { AccountRecord } from './legacy-store.js'

describe('verify against link configurations', () => {
  const otherToken = `0x${'71'.repeat(20)}`
  const onlyOther = accepting({ symbol: 'USDC', address: otherToken })
  const elsewhereOn137: LinkConfig = {
    coins: [{ chainId: 137, defaultAddress: elsewhere.toLowerCase(), tokens: [{ symbol: 'USDC' }] }],
  }
  const on1: LinkConfig = { coins: [{ chainId: 1, tokens: [{ symbol: 'USDC' }] }] }

  it.each<[string, AccountRecord[], Partial<VerifyRequest>, string[]]>([
    ['a handle that accepts the token by its listed symbol', [account('shop', anyUsdc)], { address: 'Shop' }, []],
    [
      'a handle that accepts the token by address',
      [account('shop', accepting({ symbol: 'any', address: usdc }))],
      { address: 'shop' },
      [],
    ],
    [
      'a handle that accepts another token',
      [account('shop', accepting({ symbol: 'DAI' }))],
      { address: 'shop' },
      [link],
    ],
    [
      'a handle that accepts another token of the same symbol',
      [account('shop', onlyOther)],
      { address: 'shop' },
      [link],
    ],
    [
      'a handle that accepts the symbol in another case',
      [account('shop', accepting({ symbol: 'usdc' }))],
      { address: 'shop' },
      [link],
    ],
    ['a handle that accepts no token', [account('shop', accepting())], { address: 'shop' }, [link]],
    ['a handle without that chain', [account('shop', on1)], { address: 'shop' }, [link]],
    [
      'a handle without that chain, of another address',
      [account('shop', on1, { address: elsewhere.toLowerCase() })],
      { address: 'shop' },
      [link, address],
    ],
    [
      'a handle that receives elsewhere on that chain',
      [account('shop', elsewhereOn137)],
      { address: 'shop' },
      [link, address],
    ],
    [
      'a handle that receives here on that chain alone',
      [
        account(
          'shop',
          { coins: [{ chainId: 137, defaultAddress: receiver.toLowerCase(), tokens: [{ symbol: 'USDC' }] }] },
          { address: elsewhere.toLowerCase() },
        ),
      ],
      { address: 'shop' },
      [],
    ],
    ['an address whose account accepts the token', [account('shop', anyUsdc)], {}, []],
    ['an address whose account accepts another', [account('shop', onlyOther)], {}, [link]],
    [
      'an address of two accounts, the second of which accepts',
      [account('a', onlyOther), account('b', anyUsdc)],
      {},
      [],
    ],
    ['an address whose account receives elsewhere on that chain', [account('shop', elsewhereOn137)], {}, [link]],
    ['an address whose account has not that chain', [account('shop', on1)], {}, [link]],
    [
      'the address where the account receives, which the payment did not go to',
      [account('shop', elsewhereOn137)],
      { address: elsewhere },
      [address],
    ],
    ['an address without an account, beside others', [account('shop', elsewhereOn137, { address: usdc })], {}, []],
  ])('judges %s', async (_what, accounts, change, errors) => {
    expect(await setup([paid()], accounts).getErrors(change)).toEqual([errors])
  })

  it('accepts an unlisted token only by its address, and still knows no invoice for it', async () => {
    const fake = paid({ pricing: { ...plainPricing, listedToken: null } })
    const byAddress = account('shop', accepting({ symbol: 'USDC', address: usdc }))
    expect(await setup([fake], [account('shop', anyUsdc)]).getErrors()).toEqual([[link, currency, amount]])
    expect(await setup([fake], [byAddress]).getErrors()).toEqual([[currency, amount]])
  })
})
