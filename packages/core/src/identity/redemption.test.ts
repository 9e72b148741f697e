import { expect, test } from 'vitest'
import { identitySetup } from '../../test/support/identity-setup.js'
import { checkNamespace, formatExternalUserId } from './redemption.js'

test('a redemption has one name, and two redemptions never share one', () => {
  const names = ['pi', 'pi-a'].flatMap((namespace) =>
    ['a', 'a-1', 'b'].flatMap((subject) => [1, 2, 11].map((n) => formatExternalUserId(namespace, subject, n))),
  )
  expect(new Set(names).size).toBe(names.length)
  expect(formatExternalUserId('pi', 'a', 1)).toBe('pi:a:1')
})

test('names begin with the namespace, and a malformed namespace is rejected before anything runs', async () => {
  const { provider, start } = identitySetup()
  await start({ namespace: 'pi-staging' }).share({ integrationAddress: '0x1', email: 'a@b.example', shareToken: 't' })
  expect(provider.redeemed).toMatchObject([{ externalUserId: 'pi-staging:s1:1' }])
  for (const namespace of ['', 'a:b', 'a/b', ' a', 'x'.repeat(33)]) {
    expect(() => checkNamespace(namespace), namespace).toThrow(TypeError)
    expect(() => start({ namespace }), namespace).toThrow(TypeError)
  }
})
