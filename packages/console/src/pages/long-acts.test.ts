/** Acts on deliveries, chains and the audit log: role, CSRF token, audit record, and the job that does them. */
import { createTwin, type Twin } from '@payment-integration/testing/twin'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BrowserLike } from '../../test/browser-like.js'
import { endedJob } from '../../test/ended-job.js'
import { type Console, createConsole } from '../create-console.js'

const origin = 'https://pay.example'
const passphrase = 'correct horse battery'
const chain = 137
let twin: Twin
let pages: Console
let olga: BrowserLike
let vera: BrowserLike
let sources = 0

async function signIn(name: string, role: 'viewer' | 'operator'): Promise<BrowserLike> {
  const { linkToken } = await twin.service.operators.create({ name, role })
  await twin.service.operatorSessions.redeemLink({ linkToken, passphrase })
  const browser = new BrowserLike(pages, origin)
  await browser.post('/console/sign-in', { name, passphrase })
  return browser
}

const newest = async () => (await twin.service.store.console.audit({ limit: 1 }))[0]

/** Posts an act with the form's token. */
async function act(browser: BrowserLike, name: string, fields: Record<string, string>) {
  return browser.post(`/console/act/${name}`, { csrf: await browser.csrf('/console'), ...fields })
}

beforeAll(async () => {
  twin = await createTwin({ seed: 6 })
  const shop = await twin.addIntegration(() => new Response(null, { status: 204 }))
  for (let n = 0; n < 3; n += 1) await twin.pay({ chainId: chain, integrationAddress: shop.address })
  const findSource = () => `192.0.2.${sources++ % 200}`
  pages = createConsole({ service: twin.service, now: twin.now, signIn: { publicUrl: origin, findSource } })
  olga = await signIn('olga', 'operator')
  vera = await signIn('vera', 'viewer')
})
afterAll(async () => {
  pages?.close()
  await twin?.close()
})

describe('a replay of many', () => {
  it('first shows how many there are, and replays none', async () => {
    const before = await newest()
    const { text } = await olga.get('/console/deliveries/replay?status=delivered')
    expect(text).toContain('Replay 3 deliveries?')
    expect(text).toContain('get them once more')
    expect(await newest()).toEqual(before)
    expect((await olga.get('/console/deliveries?status=delivered')).text).toContain(
      '/console/deliveries/replay?status=delivered',
    )
    expect((await vera.get('/console/deliveries?status=delivered')).text).not.toContain('/console/deliveries/replay')
    const seen = await vera.get('/console/deliveries/replay?status=delivered')
    expect([seen.text.includes('needs the role operator'), seen.text.includes('act/replay-many')]).toEqual([
      true,
      false,
    ])
  })

  it('needs a status, on the page and in the act', async () => {
    expect((await olga.get('/console/deliveries/replay')).status).toBe(400)
    const { status, text } = await act(olga, 'replay-many', { chain: String(chain) })
    expect([status, text.includes('Choose a status first')]).toEqual([400, true])
  })

  it('replays them in a job, and is recorded with its filter in the name of the operator', async () => {
    const arrived = twin.arrivals.length
    const started = await act(olga, 'replay-many', { status: 'delivered', chain: String(chain) })
    expect([started.status, started.location]).toEqual([303, expect.stringMatching(/^\/console\/jobs\/[\w-]{12}$/)])
    const text = await endedJob(olga, started.location)
    expect(text).toContain('3 are due now.')
    expect(text).toContain('operator:olga')
    expect(await newest()).toMatchObject({
      actor: 'operator:olga',
      action: 'deliveries.replayed',
      subject: 'all',
      details: { status: 'delivered', chainId: chain, replayed: 3 },
    })
    await twin.advance(0)
    expect(twin.arrivals.length).toBe(arrived + 3)
    expect((await vera.get('/console/jobs')).text).toContain('Replay of delivered deliveries')
  })
})

describe('a reindex', () => {
  it('is a dry run first, which is not recorded and offers the repair', async () => {
    const before = await newest()
    const { location } = await act(olga, 'reindex', { chain: String(chain), from: '0' })
    const text = await endedJob(olga, location)
    expect(text).toContain('everything is as stored.')
    expect(text).toContain('name="repair" value="yes"')
    expect((await vera.get(location ?? '')).text).not.toContain('/console/act/')
    expect(await newest()).toEqual(before)
  })

  it('repairs on request, and is recorded with its blocks in the name of the operator', async () => {
    const { location } = await act(olga, 'reindex', { chain: String(chain), from: '1', to: '2', repair: 'yes' })
    expect(await endedJob(olga, location)).toContain('2 blocks read and proven, everything is as stored.')
    expect(await newest()).toMatchObject({
      actor: 'operator:olga',
      action: 'chain.repair_started',
      subject: String(chain),
      details: { from: 1, to: 2 },
    })
  })

  it.each([
    [{ chain: '137', from: '5', to: '4' }, 'First block 5 is above last block 4'],
    [{ chain: '137', from: '0', to: '999999' }, 'Block 999999 is not indexed yet'],
    [{ chain: '137', from: '-1' }, 'First block is no whole number.'],
    [{ chain: '7', from: '0' }, 'Nothing of chain 7 is indexed.'],
  ])('of %j is rejected with the reason', async (fields, reason) => {
    expect((await act(olga, 'reindex', fields)).text).toContain(reason)
  })
})

it('a check of the audit log counts its records, and shows the newest to store elsewhere', async () => {
  const before = await newest()
  const { location } = await act(olga, 'verify-audit', {})
  const text = await endedJob(olga, location)
  expect(text).toContain(`All ${before?.seq} records are intact.`)
  expect(text).toContain(`${before?.seq}:${before?.hash}`)
  expect(await newest()).toEqual(before)
})

it('a job that is not in this process is not found, and cannot be stopped', async () => {
  expect((await olga.get('/console/jobs/unknown')).status).toBe(404)
  const { status, text } = await act(olga, 'stop-job', { id: 'unknown' })
  expect([status, text.includes('There is no such job in this process.')]).toEqual([409, true])
})

it('a server without tools has no page of them, and none in its navigation', async () => {
  expect((await olga.get('/console/tools')).status).toBe(404)
  expect((await olga.get('/console')).text).not.toContain('/console/tools')
  const { status, text } = await act(olga, 'doctor', {})
  expect([status, text.includes('does not offer the tool')]).toEqual([409, true])
})
