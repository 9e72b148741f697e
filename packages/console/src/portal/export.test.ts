/** Exports of the portal: the rows of the session's integration alone. */
import { expect, it, onTestFinished } from 'vitest'
import { openPortal } from '../../test/portal-setup.js'

const wallet = `0x${'e1'.repeat(20)}`

it('an integration exports its own rows with the filters of the pages, until its session ends', async () => {
  const { twin, portal, signIn, browser, audit } = await openPortal(63)
  onTestFinished(() => twin.close())
  const receive = () => new Response(null, { status: 204 })
  const [shop, other] = [await twin.addIntegration(receive), await twin.addIntegration(receive)]
  await twin.pay({ integrationAddress: shop.address, memo: 'own-1', sender: wallet })
  await twin.pay({ integrationAddress: shop.address, memo: 'own-2' })
  await twin.pay({ integrationAddress: other.address, memo: 'theirs', sender: wallet })
  await twin.advance(0)
  const own = await signIn(shop)
  const read = async (path: string) => (await own.get(`/portal${path}`)).text.split('\n').slice(0, -1)
  const parsed = async (path: string) => (await read(path)).map((line) => JSON.parse(line) as Record<string, unknown>)

  const { payments } = await twin.service.queries.forIntegration(shop.address).listPayments({})
  expect(await parsed(`/payments.jsonl?integration=${other.address}`)).toEqual(payments)
  expect((await twin.service.store.console.audit({ limit: 1 }))[0]).toMatchObject({
    ...{ actor: `integration:${shop.address}`, action: 'export.ended', subject: shop.address },
    details: { integrationAddress: shop.address, list: 'payments', format: 'jsonl', rows: 2, end: 'complete' },
  })
  expect((await parsed(`/payments.jsonl?wallet=${wallet}`)).map(({ memo }) => memo)).toEqual(['own-1'])
  const deliveries = await parsed(`/deliveries.jsonl?integration=${other.address}`)
  expect(deliveries.map(({ integrationAddress }) => integrationAddress)).toEqual([shop.address, shop.address])
  expect(await read('/deliveries.csv?status=pending')).toEqual([expect.stringMatching(/^createdAt,deliveryId,status,/)])
  expect((await own.get(`/portal/payments?wallet=${wallet}`)).text).toContain(`/portal/payments.csv?wallet=${wallet}"`)
  expect((await own.get('/portal/deliveries?status=pending')).text).toContain('/deliveries.jsonl?status=pending"')

  const before = await audit(1)
  expect((await own.get('/portal/payments.csv?wallet=0x1')).status).toBe(400)
  expect((await browser().get('/portal/payments.csv')).location).toBe('/portal/sign-in?next=%2Fportal%2Fpayments.csv')
  expect(await audit(1)).toEqual(before)

  const [row] = (await twin.service.store.console.payments({ integrationAddress: shop.address, limit: 1 })).rows
  if (row === undefined) throw new Error('There is no payment.')
  // More than an export reads at once.
  const build = (n: number) => ({ facts: { ...row, txHash: `0x${n.toString(16).padStart(64, '0')}` }, primary: true })
  const many = Array.from({ length: 600 }, (_, n) => build(n))
  await twin.service.store.transaction((tx) => tx.upsertPayments(many))
  const cookie = [...own.cookies].map((pair) => pair.join('=')).join('; ')
  const answer = await portal.fetch(new Request(`${own.origin}/portal/payments.csv`, { headers: { cookie } }))
  expect(answer.status).toBe(200)
  await twin.service.integrations.setEnabled(shop.address, false)
  // The portal of these tests throws the errors that it would log.
  await expect(answer.text()).rejects.toThrow('The export was stopped before its last row.')
  const [record] = await twin.service.store.console.audit({ limit: 1 })
  expect(record).toMatchObject({ action: 'export.ended', details: { end: 'stopped' } })
})
