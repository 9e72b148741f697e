/** Acts on deliveries, chains and the audit log: role, CSRF token, audit record, and the job that does them. */
import { describe, expect, it } from 'vitest'
import { type Person, setUpAdmin } from '../../test/admin-setup.js'
import { endedJob } from '../../test/browser-like.js'

const chain = 137
let olga: Person
let vera: Person

const newest = async () => (await setup.twin.service.store.console.audit({ limit: 1 }))[0]
const ended = (location: string | null) => endedJob(olga.browser, location)

const setup = setUpAdmin(6, async (own) => {
  const shop = await own.twin.addIntegration(() => new Response(null, { status: 204 }))
  for (let n = 0; n < 3; n += 1) await own.twin.pay({ chainId: chain, integrationAddress: shop.address })
  olga = await own.signIn('olga', 'operator')
  vera = await own.signIn('vera', 'viewer')
})

describe('a replay of many', () => {
  it('first shows how many there are, and replays none', async () => {
    const before = await newest()
    const { text } = await olga.get('/deliveries/replay?status=delivered')
    expect(text).toContain('Replay 3 deliveries?')
    expect(text).toContain('are sent once more')
    expect(await newest()).toEqual(before)
    const list = '/deliveries?status=delivered'
    expect((await olga.get(list)).text).toContain('/console/deliveries/replay?status=delivered')
    expect((await vera.get(list)).text).not.toContain('/console/deliveries/replay?status')
    const html = (await vera.get('/deliveries/replay?status=delivered')).text
    expect(html).toContain('needs the role operator')
    expect(html).not.toContain('act/replay-many')
  })

  it('needs a status, on the page and in the act', async () => {
    expect((await olga.get('/deliveries/replay')).status).toBe(400)
    const { status, text } = await olga.act('replay-many', { chain: String(chain) })
    expect([status, text.includes('Choose a status first')]).toEqual([400, true])
  })

  it('replays them in a job, and is recorded with its filter in the name of the operator', async () => {
    const arrived = setup.twin.arrivals.length
    const started = await olga.act('replay-many', { status: 'delivered', chain: String(chain) })
    expect([started.status, started.location]).toEqual([303, expect.stringMatching(/^\/console\/jobs\/[\w-]{12}$/)])
    const text = await ended(started.location)
    expect(text).toContain('3 are due now.')
    expect(text).toContain('operator:olga')
    const details = { status: 'delivered', chainId: chain, replayed: 3 }
    const record = { actor: 'operator:olga', action: 'deliveries.replayed', subject: 'all', details }
    expect(await newest()).toMatchObject(record)
    await setup.twin.advance(0)
    expect(setup.twin.arrivals.length).toBe(arrived + 3)
    expect((await vera.get('/jobs')).text).toContain('Replay of delivered deliveries')
  })
})

describe('a reindex', () => {
  it('is a dry run first, which is not recorded and offers the repair', async () => {
    const before = await newest()
    const { location } = await olga.act('reindex', { chain: String(chain), from: '0' })
    const text = await ended(location)
    expect(text).toContain('everything is as stored.')
    expect(text).toContain('name="repair" value="yes"')
    expect((await vera.browser.get(location ?? '')).text).not.toContain('/console/act/')
    expect(await newest()).toEqual(before)
  })

  it('repairs on request, and is recorded with its blocks in the name of the operator', async () => {
    const { location } = await olga.act('reindex', { chain: String(chain), from: '1', to: '2', repair: 'yes' })
    expect(await ended(location)).toContain('2 blocks read and proven, everything is as stored.')
    const act = { actor: 'operator:olga', action: 'chain.repair_started', subject: String(chain) }
    expect(await newest()).toMatchObject({ ...act, details: { from: 1, to: 2 } })
  })

  it.each([
    [{ chain: '137', from: '5', to: '4' }, 'First block 5 is above last block 4'],
    [{ chain: '137', from: '0', to: '999999' }, 'Block 999999 is not indexed yet'],
    [{ chain: '137', from: '-1' }, 'First block is not a whole number.'],
    [{ chain: '7', from: '0' }, 'Nothing of chain 7 is indexed.'],
  ])('of %j is rejected with the reason', async (fields, reason) => {
    expect((await olga.act('reindex', fields)).text).toContain(reason)
  })
})

it('a check of the audit log counts its records, and shows the newest to store elsewhere', async () => {
  const before = await newest()
  const { location } = await olga.act('verify-audit')
  const text = await ended(location)
  expect(text).toContain(`All ${before?.seq} records are intact.`)
  expect(text).toContain(`${before?.seq}:${before?.hash}`)
  expect(await newest()).toEqual(before)
})

it('a job that is not in this process is not found, and cannot be stopped', async () => {
  expect((await olga.get('/jobs/unknown')).status).toBe(404)
  const { status, text } = await olga.act('stop-job', { id: 'unknown' })
  expect([status, text.includes('There is no such job in this process.')]).toEqual([409, true])
})

it('a server without tools has no page of them, and none in its navigation', async () => {
  expect((await olga.get('/tools')).status).toBe(404)
  expect((await olga.get('')).text).not.toContain('/console/tools')
  const { status, text } = await olga.act('doctor')
  expect([status, text.includes('does not offer this tool')]).toEqual([409, true])
})
