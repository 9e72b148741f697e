/** Each act by its name: its role, and its CSRF token. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type Person, setUpAdmin } from '../../test/admin-setup.js'
import { acts } from '../routes.js'

const people: Partial<Record<'viewer' | 'operator' | 'admin', Person>> = {}

const setup = setUpAdmin(21, async (own) => {
  for (const role of ['viewer', 'operator', 'admin'] as const) people[role] = await own.signIn(`a-${role}`, role)
})

const newest = async () => (await setup.twin.service.store.console.audit({ limit: 1 }))[0]?.seq

const named = Object.entries(acts).map(([name, { needs }]) => ({ name, needs }))
const below = { admin: 'operator', operator: 'viewer', viewer: null } as const

const aboveAnother = named.flatMap(({ name, needs }) => {
  const lower = below[needs]
  return lower === null ? [] : [{ name, needs, lower }]
})

it.each(aboveAnother)('the act $name is rejected to the role $lower, and changes nothing', async (act) => {
  const before = await newest()
  const { status, text } = (await people[act.lower]?.act(act.name)) ?? { status: 0, text: '' }
  expect(status).toBe(403)
  expect(text).toContain(`This needs the role ${act.needs}; yours is ${act.lower}.`)
  expect(await newest()).toBe(before)
})

it.each(named)(
  'the act $name is rejected without the CSRF token, also to an admin, and changes nothing',
  async (act) => {
    const before = await newest()
    expect((await people.admin?.act(act.name, { csrf: 'another' }))?.status).toBe(403)
    expect(await newest()).toBe(before)
  },
)

/** Acts that need no field. */
const withoutFields = ['key-create', 'verify-audit']
const withFields = named.filter(({ name }) => !withoutFields.includes(name))

it.each(withFields)('the act $name with empty fields says what is wrong, and changes nothing', async ({ name }) => {
  const before = await newest()
  expect([400, 409]).toContain((await people.admin?.act(name))?.status)
  expect(await newest()).toBe(before)
})

it('a replay is offered as "Replay…" wherever a delivery stands, and each link asks first', async () => {
  const { address } = await setup.twin.addIntegration(() => new Response(null, { status: 503 }))
  const paid = await setup.twin.pay({ integrationAddress: address })
  const path = `/payments/${paid.chainId}/${paid.txHash}`
  const [id = ''] = /(?<=replay\?id=)\d+/.exec((await people.operator?.get(path))?.text ?? '') ?? []
  const link = `<a href="/console/deliveries/replay?id=${id}">Replay…</a>`
  for (const each of [path, '/deliveries', '/endpoints', '/endpoints?health=failing'])
    expect((await people.operator?.get(each))?.text.split(link), each).toHaveLength(2)

  const ask = `/deliveries/replay?id=${id}`
  const [viewed, asked] = await Promise.all([people.viewer?.get(ask), people.operator?.get(ask)])
  expect(viewed?.text).toContain('A replay needs the role operator.')
  expect(viewed?.text).not.toContain('/console/act/')
  for (const part of ['<h1>Replay 1 delivery?</h1>', 'A replay sends them now.', paid.txHash, address])
    expect(asked?.text).toContain(part)
  expect(asked?.text).toMatch(/action="\/console\/act\/replay">.*name="id" value="\d+".*>Replay 1 delivery<\/button>/)
  expect((await people.operator?.get('/deliveries/replay?id=99999'))?.status).toBe(404)
  expect((await people.operator?.get('/deliveries/replay?id=x'))?.status).toBe(400)

  const before = setup.twin.arrivals.length
  const sent = await people.operator?.act('replay', { id })
  expect(sent?.location).toBe(`/console${path}?note=replayed`)
  expect(await setup.audit(1)).toEqual([`operator:a-operator deliveries.replayed ${id}`])
  await setup.twin.advance(0)
  expect(setup.twin.arrivals.length).toBe(before + 1)
})

it('no page offers an admin act to an operator, or any act but the search to a viewer', async () => {
  await setup.twin.addIntegration()
  for (const path of ['/integrations', '/accounts', '/keys', '/operators', '/identity']) {
    const offered = async (role: 'viewer' | 'operator') =>
      [...((await people[role]?.get(path))?.text.matchAll(/action="\/console\/act\/([^"]+)"/g) ?? [])].map(
        ([, name]) => acts[name ?? '']?.needs,
      )
    expect(await offered('operator')).not.toContain('admin')
    expect((await offered('viewer')).every((needs) => needs === 'viewer')).toBe(true)
  }
})

it('the table of acts in the guide has each act with its role, sorted by name', () => {
  const guide = readFileSync(new URL('../../../../docs/guides/console-and-portal.md', import.meta.url), 'utf8')
  const rows = [...guide.matchAll(/^\| (viewer|operator|admin) \| (.*) \|$/gm)].flatMap(([, needs, acts = '']) => {
    const names = [...acts.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name)
    expect(names).toEqual(names.toSorted())
    return names.map((name) => `${name} ${needs}`)
  })
  expect(rows.sort()).toEqual(named.map(({ name, needs }) => `${name} ${needs}`).sort())
})
