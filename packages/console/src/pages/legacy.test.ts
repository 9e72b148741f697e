/** The legacy look-up and verification, in words and as on the wire. */
import { expect, it } from 'vitest'
import { type Person, setUpAdmin } from '../../test/admin-setup.js'

const receiver = `0x${'c3'.repeat(20)}`
let vera: Person
let query: string

setUpAdmin(25, async (own) => {
  vera = await own.signIn('vera', 'viewer')
  const config = { coins: [{ chainId: 137, tokens: [{ symbol: 'USDC' }] }] }
  await own.twin.service.accounts.create({ handle: 'shop', address: receiver, config })
  const { address: integrationAddress } = await own.twin.addIntegration()
  const order = { receiver, amount: '12.50', memo: '<b>\u202eorder' }
  const paid = await own.twin.pay({ integrationAddress, chainId: 137, ...order })
  query = `?chain=137&hash=${paid.txHash}`
})

const escaped = (body: object) => JSON.stringify(body, null, 2).replaceAll('"', '&quot;').replaceAll('<', '&lt;')

it('the look-up shows the payments in words and as on the wire, with hostile text as text', async () => {
  const { status, text } = await vera.get(`/legacy${query}`)
  expect([status, text.includes('The transaction has 1 payment.')]).toEqual([200, true])
  expect(text).toContain('&lt;b&gt;\\u{202e}order')
  expect(text).not.toMatch(/<b>|\u202e/)
  expect(text).toContain('Response body, status 200')
  expect(text).toContain('Payments shows the invoice that the merchant')
})

it('the verification says what does not match, as the interface names it', async () => {
  const { text } = await vera.get(`/legacy${query}&amount=9.99&currency=USD&payee=shop`)
  expect(text).toContain('Not verified')
  expect(text).toContain('Invalid payment amount')
  expect(text).toContain('Response body, status 409')
  expect(text).toContain(escaped({ verified: false }).slice(4, -2))
})

it('a malformed request is answered with each flaw, an unknown transaction with 404 in words', async () => {
  const flawed = await vera.get('/legacy?chain=x&hash=0x12')
  expect([flawed.status, flawed.text.includes('400: the request is malformed')]).toEqual([200, true])
  expect(flawed.text).toMatch(/<code>chainId<\/code>[\s\S]*<code>txHash<\/code>/)
  const unknown = await vera.get(`/legacy?chain=137&hash=0x${'9'.repeat(64)}`)
  expect(unknown.text).toContain('404: the transaction is not in the system.')
})

it('the form keeps what was given, and nothing is asked with an empty form', async () => {
  expect((await vera.get(`/legacy${query}`)).text).toContain('value="137"')
  expect((await vera.get('/legacy')).text).not.toContain('Response body')
})
