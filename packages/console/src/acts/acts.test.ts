/** Each act by its name: its role, and its CSRF token. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AdminSetup, adminSetup, type Person } from '../../test/admin-setup.js'
import { acts } from './acts.js'

let setup: AdminSetup
const people: Partial<Record<'viewer' | 'operator' | 'admin', Person>> = {}

beforeAll(async () => {
  setup = await adminSetup(21)
  for (const role of ['viewer', 'operator', 'admin'] as const) people[role] = await setup.signIn(`a-${role}`, role)
})
afterAll(() => setup?.close())

const newest = async () => (await setup.twin.service.store.console.audit({ limit: 1 }))[0]?.seq

const named = Object.entries(acts).map(([name, { needs }]) => ({ name, needs }))
const below = { admin: 'operator', operator: 'viewer', viewer: null } as const

describe.each(named)('the act $name, which needs the role $needs,', ({ name, needs }) => {
  const lower = below[needs]

  it.skipIf(lower === null)('is refused to the role below, and changes nothing', async () => {
    const before = await newest()
    const { status, text } = (await people[lower ?? 'viewer']?.act(name)) ?? { status: 0, text: '' }
    expect(status).toBe(403)
    expect(text).toContain(`This needs the role ${needs}; yours is ${lower}.`)
    expect(await newest()).toBe(before)
  })

  it('is refused without the CSRF token, also to an admin, and changes nothing', async () => {
    const before = await newest()
    expect((await people.admin?.act(name, { csrf: 'another' }))?.status).toBe(403)
    expect(await newest()).toBe(before)
  })

  // A key needs no name.
  it.skipIf(name === 'key-create')('with empty fields says what is wrong, and changes nothing', async () => {
    const before = await newest()
    expect([400, 409]).toContain((await people.admin?.act(name))?.status)
    expect(await newest()).toBe(before)
  })
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

it('the table of acts in the README has each act with its role, sorted by section and name', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  const rows = [...readme.matchAll(/^\| ([a-z]+) \| `([a-z-]+)` \| (viewer|operator|admin) \|/gm)]
  expect(rows.map(([, , act, needs]) => [act, needs]).sort()).toEqual(
    named.map(({ name, needs }) => [name, needs]).sort(),
  )
  const keys = rows.map(([, section, act]) => `${section} ${act}`)
  expect(keys).toEqual([...keys].sort())
})
