/** Acts on integrations, and secrets that are shown once. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { origin, type Person, setUpAdmin } from '../../test/admin-setup.js'
import { BrowserLike } from '../../test/browser-like.js'
import { localOrigin } from '../../test/console-setup.js'
import { createConsole } from '../create-console.js'

const address = `0x${'ab'.repeat(20)}`
const page = `/integrations/${address}`
let ada: Person

const setup = setUpAdmin(22, async (own) => {
  ada = await own.signIn('ada', 'admin')
  const { status } = await ada.act('integration-create', { address, name: '<b>shop', url: 'https://shop.example' })
  expect(status).toBe(200)
})

const stored = async () => (await setup.twin.service.integrations.list()).find((each) => each.address === address)
const secretsIn = (text: string) => text.match(/pi_[a-z]+_[\w-]{20,}|whsec_[\w+/=-]{20,}/g) ?? []

describe('an integration', () => {
  it('is created in the name of the admin, and its page shows hostile names as text', async () => {
    expect(await setup.audit(1)).toEqual([`operator:ada integration.created ${address}`])
    const { text } = await ada.get(page)
    expect(text).toContain('&lt;b&gt;shop')
    expect((await ada.get('/integrations')).text).toContain(`href="/console${page}"`)
  })

  it('is created once, with a well-formed address and URL', async () => {
    expect((await ada.act('integration-create', { address })).status).toBe(409)
    for (const fields of [
      { address: `0x${'cd'.repeat(20)}`, name: '\u202eshop' },
      { address: '0x12' },
      { address: `0x${'cd'.repeat(20)}`, url: 'ftp://shop.example' },
    ])
      expect((await ada.act('integration-create', fields)).status).toBe(400)
  })

  it('says which earlier blocks to read again, in a service that records only its own payments', async () => {
    const { service, clock } = setup.twin
    const actingAs = (actor: string) => {
      const { integrations, ...others } = service.actingAs(actor)
      const unrecorded = [{ chainId: 137, from: 5, to: 90 }]
      type Given = Parameters<typeof integrations.create>[0]
      const create = async (given: Given) => ({ ...(await integrations.create(given)), unrecorded })
      return { ...others, integrations: { ...integrations, create } }
    }
    const pages = createConsole({ service: { ...service, actingAs }, clock })
    onTestFinished(() => pages.close())
    const browser = new BrowserLike(pages, localOrigin)
    const late = { address: `0x${'a1'.repeat(20)}`, csrf: await browser.csrf('/console/integrations') }
    const { text } = await browser.post('/console/act/integration-create', late)
    expect(text).toMatch(/read blocks 5 to 90 again on\s+<a href="\/console\/chains#chain-137">/)
  })

  it('is disabled and enabled', async () => {
    expect((await ada.act('integration-disable', { address })).status).toBe(400)
    for (const [act, enabled, action] of [
      ['integration-disable', false, 'integration.disabled'],
      ['integration-enable', true, 'integration.enabled'],
    ] as const) {
      expect((await ada.act(act, { address, confirmed: 'yes' })).location).toBe(`/console${page}?note=${act}d`)
      expect((await stored())?.enabled).toBe(enabled)
      expect(await setup.audit(1)).toEqual([`operator:ada ${action} ${address}`])
    }
  })

  it('gets another URL, or none', async () => {
    await ada.act('integration-url', { address, url: 'https://new.example/hook?key=s3cret' })
    expect((await stored())?.notificationUrl).toBe('https://new.example/hook?key=s3cret')
    expect((await ada.get(page)).text).not.toContain('s3cret')
    const { location } = await ada.act('integration-url', { address })
    expect((await ada.browser.get(location ?? '')).text).not.toMatch(/class="note[^>]*>[^<]*is set/)
    expect((await stored())?.notificationUrl).toBeNull()
    expect(await setup.audit(1)).toEqual([`operator:ada integration.url_set ${address}`])
  })

  const basic = (secret: string) => `Basic ${Buffer.from(`${address}:${secret}`).toString('base64')}`
  const isValid = async (secret: string) => (await setup.twin.service.authenticate(basic(secret))) !== null

  it('gets a new API secret, and the previous one stays valid for its grace time', async () => {
    const [first = ''] = secretsIn((await ada.act('integration-rotate', { address, graceHours: '1' })).text)
    await setup.twin.advance(3_600_000)
    const [second = ''] = secretsIn((await ada.act('integration-rotate', { address, graceHours: '12' })).text)
    expect([await isValid(first), await isValid(second)]).toEqual([true, true])
    const { text } = await ada.get(page)
    const parts = ['/act/integration-end-api', 'Two API secrets are valid.', 'prepare it, then activate it']
    for (const part of parts) expect(text).toContain(part)
    await setup.twin.advance(12 * 3_600_000)
    expect([await isValid(first), await isValid(second)]).toEqual([false, true])
    expect(await setup.audit(1)).toEqual([`operator:ada integration.api_secret_rotated ${address}`])
    ada = await setup.signIn('ada2', 'admin')
  })

  it('keeps both API secrets when the answer is reloaded, until an admin ends the previous one', async () => {
    const post = () => ada.act('integration-rotate', { address, graceHours: '12' })
    const [first = ''] = secretsIn((await post()).text)
    await setup.twin.advance(12 * 3_600_000)
    ada = await setup.signIn('ada3', 'admin')
    const [second = ''] = secretsIn((await post()).text)
    const again = await post()
    expect([again.status, secretsIn(again.text)]).toEqual([409, []])
    expect([await isValid(first), await isValid(second)]).toEqual([true, true])
    expect((await ada.act('integration-end-api', { address })).status).toBe(400)
    const ended = await ada.act('integration-end-api', { address, confirmed: 'yes' })
    expect(ended.location).toBe(`/console${page}?note=api-ended`)
    expect([await isValid(first), await isValid(second)]).toEqual([false, true])
    expect(await setup.audit(1)).toEqual([`operator:ada3 integration.previous_api_secret_ended ${address}`])
  })

  it.each(['-1', '0', '1.5', '721', 'x', '1e2'])('is not rotated with a grace time of %s hours', async (graceHours) => {
    expect((await ada.act('integration-rotate', { address, graceHours })).status).toBe(400)
  })

  it('gets a signing secret in two steps, and a prepared one is not shown a second time', async () => {
    const first = await ada.act('integration-prepare', { address })
    const [secret = ''] = secretsIn(first.text)
    expect(secret).not.toBe('')
    const again = await ada.act('integration-prepare', { address })
    expect([again.status, again.text.includes(secret)]).toEqual([409, false])
    expect(await setup.audit(1)).toEqual([`operator:ada3 integration.signing_secret_prepared ${address}`])
    await ada.act('integration-activate', { address, graceHours: '1' })
    expect(await setup.audit(1)).toEqual([`operator:ada3 integration.signing_secret_activated ${address}`])
    expect((await ada.get(page)).text).toContain('/act/integration-end-signing')
    expect((await ada.act('integration-end-signing', { address })).status).toBe(400)
    await ada.act('integration-end-signing', { address, confirmed: 'yes' })
    expect(await setup.audit(1)).toEqual([`operator:ada3 integration.previous_signing_secret_ended ${address}`])
    expect((await stored())?.previousSigningSecretUntil).toBeNull()
    await ada.act('integration-prepare', { address })
    await ada.act('integration-abort', { address })
    expect(await setup.audit(1)).toEqual([`operator:ada3 integration.signing_secret_aborted ${address}`])
    expect((await ada.act('integration-abort', { address })).status).toBe(409)
  })
})

it('a command names the public URL when a proxy forwards the request over http', async () => {
  const proxied = Object.assign(new BrowserLike(setup.pages, 'http://pay.example'), { cookies: ada.browser.cookies })
  expect((await proxied.get('/console/payments')).text).toContain(`${origin}/api/v1/integration/payments`)
})

it('no page renders a secret again after its creation', async () => {
  const other = `0x${'ef'.repeat(20)}`
  const answers = [
    await ada.act('integration-create', { address: other, name: 'shop' }),
    await ada.act('integration-rotate', { address: other, graceHours: '1' }),
    await ada.act('integration-prepare', { address: other }),
    await ada.act('key-create', { name: 'till' }),
    await ada.act('operator-create', { name: 'nina', role: 'viewer' }),
    await ada.act('operator-reset', { name: 'nina', confirmed: 'yes' }),
  ]
  const secrets = answers.map(({ text }) => secretsIn(text))
  expect(secrets.map(({ length }) => length)).toEqual([2, 1, 1, 1, 1, 1])
  for (const { headers } of answers) expect(headers.get('cache-control')).toBe('no-store')
  const [link = ''] = secrets.at(-1) ?? []
  expect(answers.at(-1)?.text).toContain(`${origin}/console/join#${link}`)
  for (const path of [
    ...['', '/payments', '/deliveries', '/endpoints', '/chains', '/legacy', '/identity', '/integrations'],
    ...[`/integrations/${other}`, '/accounts', '/keys', '/operators', '/audit', '/settings'],
  ]) {
    const { status, text } = await ada.get(path)
    expect(status, path).toBe(200)
    expect(secretsIn(text), path).toEqual([])
    for (const secret of secrets.flat()) expect(text, path).not.toContain(secret)
  }
})
