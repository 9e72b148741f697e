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

it('a pending delivery is sent now from the list, by a form that viewers and live rows do not have', async () => {
  const { address } = await setup.twin.addIntegration(() => new Response(null, { status: 503 }))
  const paid = await setup.twin.pay({ integrationAddress: address })
  const [viewed, list] = await Promise.all([people.viewer?.get('/deliveries'), people.operator?.get('/deliveries')])
  expect(viewed?.text).not.toContain('<form id="replay"')
  expect(list?.text).toMatch(/<form id="replay" method="post" action="\/console\/act\/replay"><input[^>]*name="csrf"/)
  const [, id = ''] = /<tr(?:(?!csrf).)*form="replay" name="id" value="(\d+)">Send now/.exec(list?.text ?? '') ?? []
  const before = setup.twin.arrivals.length
  const sent = await people.operator?.act('replay', { id })
  expect(sent?.location).toBe(`/console/payments/${paid.chainId}/${paid.txHash}?note=replayed`)
  expect(await setup.audit(1)).toEqual([`operator:a-operator deliveries.replayed ${id}`])
  await setup.twin.advance(0)
  expect(setup.twin.arrivals.length).toBe(before + 1)
  expect((await people.operator?.get(`/payments/${paid.chainId}/${paid.txHash}`))?.text).toContain('Send version 1 now')
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
