/** Acts on accounts, keys of the legacy API, and operators. */
import { describe, expect, it } from 'vitest'
import { origin, type Person, setUpAdmin } from '../../test/admin-setup.js'
import { BrowserLike } from '../../test/browser-like.js'
import { createConsole } from '../create-console.js'

let ada: Person

const setup = setUpAdmin(23, async (own) => {
  ada = await own.signIn('ada', 'admin')
})

const address = `0x${'ab'.repeat(20)}`
const config = JSON.stringify({ coins: [{ chainId: 137, tokens: [{ symbol: '<b>\u202eUSDC' }] }] })

describe('an account', () => {
  it('is created, changed and removed in the name of the admin', async () => {
    const created = await ada.act('account-create', { handle: 'Shop', address, config })
    expect(created.location).toBe('/console/accounts/shop?note=account-created')
    expect(await setup.audit(1)).toEqual(['operator:ada account.created shop'])
    const other = `0x${'cd'.repeat(20)}`
    await ada.act('account-change', { handle: 'shop', address: other, config: '{"coins":[]}' })
    expect(await setup.twin.service.accounts.get('shop')).toMatchObject({ address: other, config: { coins: [] } })
    expect(await setup.audit(1)).toEqual(['operator:ada account.changed shop'])
    expect((await ada.act('account-remove', { handle: 'shop' })).status).toBe(400)
    const removed = await ada.act('account-remove', { handle: 'shop', confirmed: 'yes' })
    expect(removed.location).toBe('/console/accounts?note=account-removed')
    expect(await setup.audit(1)).toEqual(['operator:ada account.removed shop'])
    expect(await setup.twin.service.accounts.list()).toEqual([])
  })

  it('shows the text of its configuration as text', async () => {
    await ada.act('account-create', { handle: 'hostile', address, config })
    for (const path of ['/accounts', '/accounts/hostile']) {
      const { text } = await ada.get(path)
      expect(text).toContain('&lt;b&gt;\\u{202e}USDC')
      expect(text).not.toContain('<b>')
    }
  })

  it('the form of an account holds its configuration, so that saving it unchanged changes nothing', async () => {
    const { text } = await ada.get('/accounts/hostile')
    const [, escaped = ''] = /<textarea[^>]*>\n([^<]*)<\/textarea>/.exec(text) ?? []
    const content = escaped.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>')
    expect(JSON.parse(content)).toEqual(JSON.parse(config))
    expect(content).not.toContain('\u202e')
  })

  it('with a configuration too large for a form is shown in part, and its address alone is changed', async () => {
    const tokens = Array.from({ length: 200 }, (_, n) => ({ symbol: `SYMBOL${n}` }))
    const large = { coins: Array.from({ length: 20 }, (_, n) => ({ chainId: n + 1, tokens })) }
    await setup.twin.service.accounts.create({ handle: 'large', address, config: large })
    const { text } = await ada.get('/accounts/large')
    expect([text.length < 40_000, text.includes('too large for a form')]).toEqual([true, true])
    const other = `0x${'ee'.repeat(20)}`
    await ada.act('account-change', { handle: 'large', address: other })
    expect(await setup.twin.service.accounts.get('large')).toMatchObject({ address: other, config: large })
    await ada.act('account-remove', { handle: 'large', confirmed: 'yes' })
  })

  it('with a flaw is rejected with its field, and no text of the form is quoted', async () => {
    const broken = await ada.act('account-create', { handle: 'x', address, config: 'secret{' })
    expect([broken.status, broken.text]).toEqual([400, expect.stringContaining('is not JSON')])
    expect(broken.text).not.toContain('secret{')
    const flawed = await ada.act('account-create', { handle: 'x', address, config: '{}' })
    expect([flawed.status, flawed.text.includes('config.coins')]).toEqual([409, true])
  })

  it('is on a list of 50 a page', async () => {
    for (let n = 0; n < 60; n += 1)
      await setup.twin.service.accounts.create({ handle: `n${n}`, address, config: { coins: [] } })
    const first = await ada.get('/accounts')
    const [, next = ''] = /href="\/console(\/accounts\?after=[^"]+)"/.exec(first.text) ?? []
    const rows = (text: string) => text.match(/<tr>/g)?.length
    expect([rows(first.text), rows((await ada.get(next)).text)]).toEqual([51, 12])
  })
})

it('a key is created and revoked in the name of the admin', async () => {
  const { text } = await ada.act('key-create', { name: '<i>till' })
  const [apiKey = ''] = /pi_[a-z]+_[\w-]{20,}/.exec(text) ?? []
  expect(await setup.twin.service.authenticateLegacy(apiKey)).not.toBeNull()
  const [key] = await setup.twin.service.legacyKeys.list()
  expect(await setup.audit(1)).toEqual([`operator:ada legacy_key.created ${key?.id}`])
  expect((await ada.get('/keys')).text).toContain('&lt;i&gt;till')
  expect((await ada.act('key-revoke', { id: key?.id ?? '' })).status).toBe(400)
  await ada.act('key-revoke', { id: key?.id ?? '', confirmed: 'yes' })
  expect(await setup.audit(1)).toEqual([`operator:ada legacy_key.revoked ${key?.id}`])
  expect(await setup.twin.service.authenticateLegacy(apiKey)).toBeNull()
})
describe('an operator', () => {
  const view = async (name: string) => (await setup.twin.service.operators.list()).find((one) => one.name === name)

  it('is created with a one-time link that sets a passphrase', async () => {
    const { text } = await ada.act('operator-create', { name: 'Olga', role: 'operator' })
    const [, link = ''] = /https:\/\/pay\.example\/console\/join#([\w-]+)/.exec(text) ?? []
    expect(await setup.audit(1)).toEqual(['operator:ada operator.created olga'])
    const olga = new BrowserLike(setup.pages, origin)
    const passphrase = 'a long enough one'
    const joined = await olga.post('/console/join', { link, passphrase, again: passphrase })
    expect(joined.location).toBe('/console/sign-in?note=joined')
  })

  it('gets another role, is disabled, enabled and reset, each in the name of the admin', async () => {
    for (const [act, fields, action] of [
      ['operator-role', { role: 'viewer' }, 'operator.role_set'],
      ['operator-disable', { confirmed: 'yes' }, 'operator.disabled'],
      ['operator-enable', {}, 'operator.enabled'],
      ['operator-reset', { confirmed: 'yes' }, 'operator.reset'],
    ] as const) {
      expect([200, 303]).toContain((await ada.act(act, { name: 'olga', ...fields })).status)
      expect(await setup.audit(1)).toEqual([`operator:ada ${action} olga`])
    }
    expect(await view('olga')).toMatchObject({ role: 'viewer', enabled: true, hasPassphrase: false })
  })

  it('who is the last admin with a passphrase is neither disabled nor demoted nor reset', async () => {
    const before = await setup.audit(1)
    for (const [act, fields] of [
      ['operator-role', { role: 'operator' }],
      ['operator-disable', { confirmed: 'yes' }],
      ['operator-reset', { confirmed: 'yes' }],
    ] as const) {
      const { status, text } = await ada.act(act, { name: 'ada', ...fields })
      expect([status, text.includes('the last admin who can sign in')]).toEqual([409, true])
    }
    expect(await setup.audit(1)).toEqual(before)
    expect(await view('ada')).toMatchObject({ role: 'admin', enabled: true, hasPassphrase: true })
  })

  it('who is one of two admins may give up the role, and then may do it no more', async () => {
    const eve = await setup.signIn('eve', 'admin')
    expect((await eve.act('operator-role', { name: 'eve', role: 'viewer' })).status).toBe(303)
    expect((await eve.act('operator-role', { name: 'eve', role: 'admin' })).status).toBe(403)
  })

  it('with a malformed name or role is rejected', async () => {
    expect((await ada.act('operator-create', { name: 'a b', role: 'viewer' })).status).toBe(409)
    expect((await ada.act('operator-create', { name: 'bob', role: 'root' })).status).toBe(409)
  })
})

it('without sign-in there is no page of operators, and no act changes one', async () => {
  const pages = createConsole({ service: setup.twin.service, clock: setup.twin.clock })
  const local = new BrowserLike(pages, 'http://127.0.0.1:4747')
  expect((await local.get('/console/operators')).status).toBe(404)
  const { text } = await local.get('/console')
  expect(text).not.toContain('>Operators<')
  const csrf = await local.csrf('/console/integrations')
  const before = await setup.audit(1)
  expect((await local.post('/console/act/operator-create', { csrf, name: 'mallory', role: 'admin' })).status).toBe(400)
  expect(await setup.audit(1)).toEqual(before)
  pages.close()
})
