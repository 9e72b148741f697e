/** Snapshots of a payment with more versions than a page reads. */
import { expect, it } from 'vitest'
import { setUpConsole } from '../../test/console-setup.js'

const versions = 54
let path: string
const setup = setUpConsole(15, async (twin) => {
  const paid = await twin.pay({ integrationAddress: (await twin.addIntegration()).address })
  for (let n = 2; n <= versions; n += 1)
    await twin.update(paid, { recipient: { title: `title of version ${n}`, subtitle: null } })
  path = `/payments/${paid.chainId}/${paid.txHash}`
})

it('the newest 50 are on the page, which says how many there are', async () => {
  const html = await setup.get(path)
  expect(html).toContain(`This page has 50 of ${versions} versions`)
  expect(html).not.toContain('is not stored')
})

it('any two versions are compared, also old ones; one that is not there is named', async () => {
  expect(await setup.get(`${path}?a=2&b=54`)).toMatch(
    /<del>[^<]*title of version 2&quot;<\/del> <ins>[^<]*title of version 54&quot;<\/ins>/,
  )
  expect(await setup.get(`${path}?a=1&b=60`)).toContain('Version 60 is not stored.')
})
