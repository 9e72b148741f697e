import { describe, expect, it } from 'vitest'
import { getCommands } from '../../test/run-commands.js'
import { getEvents } from '../../test/test-io.js'

const address = `0x${'a1'.repeat(20)}`
const other = `0x${'b2'.repeat(20)}`

describe('integrations create', () => {
  it('prints both secrets only once', async () => {
    const { run } = getCommands('integrations')
    const { exitCode, out, err } = await run('create', address.toUpperCase().replace('0X', '0x'), '--name', 'Shop')
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
    expect(out).toContain(`Created ${address} (Shop).`)
    expect(out).toMatch(/API secret {6}\S{32,}/)
    expect(out).toMatch(/Webhook secret {2}\S{32,}/)
    expect(out).toContain('shown only this once')
    const secrets = [...out.matchAll(/secret +(\S{32,})/g)].map(([, secret]) => secret)
    expect(new Set(secrets).size).toBe(2)
    const listed = await run('list')
    for (const secret of secrets) expect(listed.out).not.toContain(secret)
  })

  it('prints one JSON object with --json', async () => {
    const notificationUrl = 'https://shop.example/webhook'
    const { io } = await getCommands('integrations').run('create', address, '--url', notificationUrl, '--json')
    const created = { address, name: '', notificationUrl, enabled: true, createdAt: expect.any(Number) }
    const secrets = { previousApiSecretUntil: null, signingSecretPrepared: false, previousSigningSecretUntil: null }
    expect(getEvents(io)).toEqual([
      {
        ...{ event: 'integration.created', integration: { ...created, ...secrets }, unrecorded: [] },
        ...{ apiSecret: expect.any(String), signingSecret: expect.any(String) },
      },
    ])
  })

  it('rejects an http URL of this machine, and names the variable that allows it', async () => {
    const { exitCode, err } = await getCommands('integrations').run('create', address, '--url', 'http://127.0.0.1:4000')
    expect(exitCode).toBe(2)
    expect(err).toMatch(/must be https/)
    expect(err).toMatch(/PI_ENV=development/)
  })

  it('rejects an address in use', async () => {
    const { run } = getCommands('integrations')
    await run('create', address)
    const { exitCode, out, err } = await run('create', address)
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' })
    expect(err).toBe(`Integration ${address} exists already: do not create it again; before an import, disable it.`)
  })
})

it('integrations list prints one line each', async () => {
  const { run } = getCommands('integrations')
  await run('create', other, '--url', 'https://shop.example/webhook')
  await run('create', address, '--name', 'Shop')
  expect((await run('list')).lines).toEqual([
    `${address}  enabled   no notifications  Shop`,
    `${other}  enabled   https://shop.example/webhook`,
  ])
  expect(getEvents((await run('list', '--json')).io)).toHaveLength(2)
})

describe('integrations disable, enable, set-url, export', () => {
  it('changes the output of list', async () => {
    const { run } = getCommands('integrations')
    await run('create', address, '--url', 'https://shop.example/webhook')
    expect((await run('disable', address)).out).toContain('disabled')
    expect((await run('list')).out).toContain('disabled')
    expect((await run('enable', address)).out).toContain('enabled')
    expect((await run('set-url', address, 'https://new.example/hook')).out).toContain('https://new.example/hook')
    expect((await run('set-url', address, 'none')).out).toContain('no notifications')
    expect((await run('list')).lines).toEqual([`${address}  enabled   no notifications`])
  })

  it('an export to a folder that does not exist leaves the integration enabled', async () => {
    const { run, path } = getCommands('integrations')
    await run('create', address)
    expect((await run('export', address, '--to', `${path}.missing/shop.jsonl.gz`)).exitCode).toBe(1)
    expect((await run('list')).lines).toEqual([`${address}  enabled   no notifications`])
  })

  it.each([
    ['disable', other],
    ['enable', other],
    ['set-url', other, 'https://new.example/hook'],
    ['rotate-secret', other],
    ...['--prepare', '--activate', '--abort'].map((step) => ['rotate-secret', other, '--signing', step]),
  ])('%s of an unknown integration exits with 1', async (...args) => {
    const { run, make } = getCommands('integrations')
    await make()
    const { exitCode, err } = await run(...args)
    expect({ exitCode, err }).toEqual({ exitCode: 1, err: `There is no integration ${other}; create it first.` })
  })
})

it.each([
  [[], 'stays valid for 24 h'],
  [['--grace', '90m'], 'stays valid for 90 min'],
  [['--grace', '0s'], 'expires within a quarter of a second'],
  [['--no-grace'], 'expires within a quarter of a second'],
])('rotate-secret with %j prints a new API secret, and that the previous one %s', async (args, text) => {
  const { run } = getCommands('integrations')
  const created = getEvents((await run('create', address, '--json')).io)[0]
  const { out } = await run('rotate-secret', address, ...args)
  expect(out).toMatch(/^API secret {2}\S{32,}/)
  expect(out).not.toContain(String(created?.['apiSecret']))
  expect(out).toContain(text)
})

describe('integrations rotate-secret --signing', () => {
  /** An integration, and its steps with `--json`. */
  async function created() {
    const { run } = getCommands('integrations')
    const [event] = getEvents((await run('create', address, '--json')).io)
    const step = async (...args: string[]) =>
      getEvents((await run('rotate-secret', address, '--signing', ...args, '--json')).io)[0]
    return { run, step, first: event?.['signingSecret'] }
  }

  it('prepares a new secret, prints it again, and activates it for a day of grace', async () => {
    const { run, step, first } = await created()
    const event = { event: 'integration.signing_secret_prepared', address }
    const prepared = await step('--prepare')
    expect(prepared).toEqual({ ...event, signingSecret: expect.stringMatching(/^pi_whsec_\S{43}$/), isNew: true })
    expect(prepared?.['signingSecret']).not.toBe(first)
    expect(await step('--prepare')).toEqual({ ...prepared, isNew: false })
    expect((await run('list')).out).toContain('next webhook secret prepared')
    const { out } = await run('rotate-secret', address, '--signing', '--activate')
    expect(out).toContain('For 24 h, a delivery that is answered 400, 401 or 403 is retried at once')
    expect((await run('list')).lines[1]).toMatch(/^ {2}rejected deliveries are retried .* until 20/)
  })

  it('prints the next step, and does not claim to show the secret only once', async () => {
    const { run } = await created()
    const { lines } = await run('rotate-secret', address, '--signing', '--prepare')
    expect(lines).toEqual([
      expect.stringMatching(/^Webhook secret {2}pi_whsec_/),
      'It is prepared; deliveries are signed with the old secret until you activate it.',
      'This command prints it again until it is active. Add it to the receiver, keep the old secret there, then run:',
      `  payment-integration integrations rotate-secret ${address} --signing --activate`,
    ])
  })

  it.each([
    [['--no-grace'], { graceMs: 0, previousUntil: null }],
    [['--grace', '10s'], { graceMs: 10_000, previousUntil: expect.any(Number) }],
  ])('activates with %j', async (args, expected) => {
    const { step } = await created()
    await step('--prepare')
    const event = { event: 'integration.signing_secret_activated', address }
    expect(await step('--activate', ...args)).toEqual({ ...event, ...expected })
  })

  it('deletes the prepared secret with --abort', async () => {
    const { run, step } = await created()
    await step('--prepare')
    expect(await step('--abort')).toEqual({ event: 'integration.signing_secret_aborted', address })
    expect((await run('list')).lines).toHaveLength(1)
  })
})
