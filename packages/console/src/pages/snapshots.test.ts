/** Snapshots of a payment with more versions than a page reads. */
import { createTwin, type Twin } from '@payment-integration/testing/twin'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Console, createConsole } from '../create-console.js'

const versions = 54
let twin: Twin
let pages: Console
let path: string

beforeAll(async () => {
  twin = await createTwin({ seed: 15 })
  const shop = await twin.addIntegration()
  const paid = await twin.pay({ integrationAddress: shop.address })
  for (let n = 2; n <= versions; n += 1)
    await twin.update(paid, { recipient: { title: `title of version ${n}`, subtitle: null } })
  path = `/console/payments/${paid.chainId}/${paid.txHash}`
  pages = createConsole({ service: twin.service, now: twin.now })
})
afterAll(async () => {
  pages?.close()
  await twin?.close()
})

const get = async (query: string) => (await pages.fetch(new Request(`http://127.0.0.1:4747${path}${query}`))).text()

it('the newest 50 are on the page, which says how many there are', async () => {
  const html = await get('')
  expect(html).toContain(`This page has 50 of ${versions} versions`)
  expect(html).not.toContain('is not stored')
})

it('any two versions are compared, also old ones', async () => {
  const html = await get('?a=2&b=54')
  expect(html).toMatch(/<del>[^<]*title of version 2&quot;<\/del> <ins>[^<]*title of version 54&quot;<\/ins>/)
})

it('a version that is not there is named', async () => {
  expect(await get('?a=1&b=60')).toContain('Version 60 is not stored.')
})
