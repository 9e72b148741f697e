import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import type { ShareOutcome } from '@payment-integration/core/internal'
import { describe, expect, it } from 'vitest'
import { onService } from '../../test/fill-deliveries.js'
import { changeVerification, identityCommands, listed, otherShop, shop } from '../../test/identity-commands.js'
import { getCommands } from '../../test/run-commands.js'
import { getEvents, testIo } from '../../test/test-io.js'
import { runCli } from '../run-cli.js'

const key = /[0-9a-f]{64}/
const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`
const { provider, mint, shared } = identityCommands()

const getIds = (events: Record<string, unknown>[]) => events.map((each) => (each['subject'] as { id: string }).id)

describe('identity list', () => {
  it('prints the verification, who shared it, and the keyed hash', async () => {
    const { run } = await shared('anna@shop.example')
    const { exitCode, lines, err } = await run('list')
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
    const applicant = provider().redemptions.at(-1)?.applicantId
    const rest = 'applicant +redemptions +open +keyed hash of the e-mail'
    const columns = `0xa1a1a1[.][.]a1a1 +${applicant} +1 +- +${key.source}`
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`^subject +account +address +status +verdict +reviewed +shared by +${rest}$`)),
      expect.stringMatching(new RegExp(String.raw`^\S+ +- +placeholder +pending +- +- +${columns}$`)),
    ])
  })

  it('prints a verdict with its reasons, without control characters of the provider', async () => {
    const commands = await shared('anna@shop.example')
    const [subjectId = ''] = getIds(await listed(commands, 'list'))
    const at = Date.UTC(2026, 0, 2, 3, 4, 5)
    const review = { reviewStatus: 'completed', reviewAnswer: 'RED', rejectType: 'RETRY' } as const
    const rejectLabels = ['BAD\u001b[2JSELFIE', 'FORGERY']
    await changeVerification(commands.env, subjectId, { review: { ...review, rejectLabels }, reviewedAt: at })
    const verdict = 'completed  RED RETRY BAD [2JSELFIE FORGERY  2026-01-02 03:04:05Z'
    expect((await commands.run('list')).lines[1]).toContain(verdict)
    expect(await listed(commands, 'list')).toMatchObject([{ subject: { reviewedAt: at, review } }])
  })

  it('prints whether an address is proved, carried, given up or of a placeholder', async () => {
    const commands = await shared('anna@shop.example', 'bert@shop.example', 'carl@shop.example')
    await onService(commands.env, async ({ identity }) => {
      const accounts = await identity?.accounts()
      if (accounts === undefined) throw new Error('Sharing is off.')
      const prove = async (email: string, account?: { accountId: string }) =>
        accounts.proveByCode(email, (await accounts.requestCode(email)).code, account)
      const { accountId } = await prove('anna@shop.example')
      await prove('bert@shop.example', { accountId })
      await accounts.register('dora@shop.example')
      const dora = { email: 'dora@shop.example', shareToken: mint() }
      await identity?.share({ integrationAddress: shop, ...dora })
    })
    const of = async (name: string) => (await commands.run('list', '--email', `${name}@shop.example`)).lines.slice(1)
    expect(await of('anna')).toEqual([expect.stringMatching(/^\S+ +\S+ +given up +pending /)])
    expect(await of('bert')).toEqual([expect.stringMatching(/^\S+ +\S+ +proved +pending /)])
    expect(await of('carl')).toEqual([expect.stringMatching(/^\S+ +- +placeholder +pending /)])
    expect(await of('dora')).toEqual([expect.stringMatching(/^\S+ +\S+ +carried +pending /)])
  })

  it('prints all fields with --json', async () => {
    const commands = await shared('anna@shop.example')
    const subject = {
      ...{ id: expect.any(String), emailKey: expect.stringMatching(key), accountId: null, proved: false },
      ...{ closed: false, donor: shop, applicantId: provider().redemptions.at(-1)?.applicantId },
      review: { reviewStatus: 'pending', reviewAnswer: null, rejectType: null, rejectLabels: [] },
      ...{ reviewedAt: null, attachedNumber: 1, attachedAt: expect.any(Number), redemptions: 1, isOpen: false },
      ...{ doubt: null, presence: null, missing: null, revision: expect.any(Number) },
    }
    expect(await listed(commands, 'list')).toEqual([{ event: 'subject', subject }])
  })

  it('pages by subject, and reports that more follow, as text and as JSON', async () => {
    const commands = await shared('anna@shop.example', 'bert@shop.example', 'carl@shop.example')
    const ids = getIds(await listed(commands, 'list'))
    expect(ids).toHaveLength(3)
    const { lines } = await commands.run('list', '--limit', '2')
    expect(lines).toHaveLength(4)
    expect(lines.at(-1)).toBe(`2 shown, more follow; continue with --after ${ids[1]}.`)
    const more = { event: 'more', shown: 2, afterId: ids[1] }
    expect((await listed(commands, 'list', '--limit', '2')).at(-1)).toEqual(more)
    expect(await listed(commands, 'list', '--limit', '3')).toHaveLength(3)
    expect(await listed(commands, 'list', '--after', ids[1] ?? '')).toMatchObject([{ subject: { id: ids[2] } }])
  })
})

describe('identity shares', () => {
  it('prints the outcome of each, newest first', async () => {
    const commands = await shared('anna@shop.example', 'anna@shop.example')
    await onService(commands.env, async ({ identity }) => {
      const request = { email: 'anna@shop.example', shareToken: mint() }
      await identity?.share({ ...request, integrationAddress: otherShop }).catch(() => undefined)
      const invalid = { email: 'bert@shop.example', shareToken: 'no token' }
      await identity?.share({ ...invalid, integrationAddress: shop }).catch(() => undefined)
    })
    const { exitCode, lines, err } = await commands.run('shares')
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
    const line = (outcome: string, integration: string, name: string, code: string) =>
      expect.stringMatching(new RegExp(String.raw`^${time} +${outcome} +${integration} +\S+ +${name} +${code}$`))
    const [ofShop, ofOther] = ['0xa1a1a1[.][.]a1a1', '0xb2b2b2[.][.]b2b2']
    expect(lines).toEqual([
      expect.stringMatching(/^at +outcome +integration +subject +external user id +code$/),
      line('rejected', ofShop, String.raw`pi:\S+:1`, '-'),
      line('started', ofShop, String.raw`pi:\S+:1`, '-'),
      line('not_donated', ofOther, '-', '-'),
      line('in_flight', ofShop, '-', '-'),
      line('redeemed', ofShop, String.raw`pi:\S+:1`, '-'),
      line('started', ofShop, String.raw`pi:\S+:1`, '-'),
    ])
  })

  it('reports older entries, as text and as JSON', async () => {
    const commands = await shared('anna@shop.example', 'anna@shop.example', 'anna@shop.example')
    const { lines } = await commands.run('shares', '--limit', '2')
    expect(lines.slice(3)).toEqual(['The newest 2; a larger --limit prints older ones.'])
    expect(await listed(commands, 'shares', '--limit', '2')).toMatchObject([
      { event: 'share', share: { outcome: 'in_flight', integrationAddress: shop, externalUserId: null } },
      { event: 'share', share: { outcome: 'in_flight' } },
      { event: 'more', shown: 2 },
    ])
    // The first share has two entries: its redemption started, and the token was redeemed.
    expect(await listed(commands, 'shares', '--limit', '4')).toHaveLength(4)
  })
})

it('identity accounts prints registrations, codes, proofs and rejections, newest first', async () => {
  const commands = await shared('anna@shop.example')
  const accountId = await onService(commands.env, async ({ identity }) => {
    const accounts = await identity?.accounts()
    if (accounts === undefined) throw new Error('Sharing is off.')
    const registered = await accounts.register('anna@shop.example')
    const { code } = await accounts.requestCode('anna@shop.example')
    await accounts.proveByCode('anna@shop.example', 'AAAA').catch(() => undefined)
    await accounts.proveByCode('anna@shop.example', code, { accountId: registered.accountId })
    await accounts.proveByAttestation('anna@shop.example', shop).catch(() => undefined)
    return registered.accountId
  })
  const { exitCode, lines } = await commands.run('accounts')
  expect(exitCode).toBe(0)
  const line = (what: string, account: string, rest: string) =>
    expect.stringMatching(new RegExp(`^${time} +${what} +${account} +${rest} +${key.source}$`))
  expect(lines).toEqual([
    expect.stringMatching(/^at +event +account +proof +attested by +reason +keyed hash of the e-mail$/),
    line('rejected', accountId, 'attestation +0xa1a1a1[.][.]a1a1 +not_placeholder'),
    line('proved', accountId, 'code +- +-'),
    line('rejected', '-', 'code +- +code_wrong'),
    line('code_issued', '-', 'code +- +-'),
    line('registered', accountId, '- +- +-'),
  ])
  expect(await listed(commands, 'accounts', '--limit', '2')).toMatchObject([
    { event: 'account.event', accountEvent: { action: 'rejected', by: shop, reason: 'not_placeholder' } },
    { event: 'account.event', accountEvent: { action: 'proved', accountId, proof: 'code', reason: null } },
    { event: 'more', shown: 2 },
  ])
})

it("identity redemptions prints the name that a token was redeemed under, and verdicts the provider's report", async () => {
  const commands = await shared('anna@shop.example')
  const applicantId = provider().redemptions.at(-1)?.applicantId ?? ''
  expect(await listed(commands, 'redemptions')).toMatchObject([
    { event: 'redemption', redemption: { integrationAddress: shop, state: 'attached', applicantId } },
  ])
  expect((await commands.run('redemptions')).lines[1]).toMatch(
    new RegExp(String.raw`^${time} +attached +- +0xa1a1a1[.][.]a1a1 +\S+ +\S+ +${applicantId}$`),
  )
  expect(await listed(commands, 'verdicts')).toMatchObject([
    { event: 'verdict', verdict: { source: 'redemption', change: 'review', applicantId, outcome: 'applied' } },
  ])
  expect((await commands.run('verdicts')).lines[1]).toMatch(
    new RegExp(String.raw`^${time} +redemption +review +pending +- +\S+.* applied +\S+ +${applicantId}$`),
  )
})

describe.each(['list', 'shares'])('identity %s', (name) => {
  /** Ids of subjects, of which a list prints one and the log of shares two entries. */
  const getSubjects = (events: Record<string, unknown>[]) =>
    events.map(({ subject, share }) => (subject as { id: string })?.id ?? (share as { subjectId: string }).subjectId)

  it('finds an address in any spelling, from standard input too, and by its keyed hash', async () => {
    const commands = await shared('anna@bücher.example', 'bert@shop.example')
    const [{ subject } = {}] = await listed(commands, 'list', '--email', 'anna@bücher.example')
    const { id, emailKey } = Object(subject) as { id: string; emailKey: string }
    expect(emailKey).toMatch(key)
    const ofAnna = Array(name === 'list' ? 1 : 2).fill(id)
    const email = ['--email', 'ANNA@xn--bcher-kva.example']
    expect(getSubjects(await listed(commands, name, ...email))).toEqual(ofAnna)
    expect(getSubjects(await listed(commands, name))).toHaveLength(2 * ofAnna.length)
    expect(getSubjects(await listed(commands, name, '--key', emailKey.toUpperCase()))).toEqual(ofAnna)
    const { io } = await commands.runWith('anna@bücher.example\n', name, '--email', '-', '--json')
    expect(getSubjects(getEvents(io))).toEqual(ofAnna)
  })

  it.each<[0 | 2, string[]]>([
    [0, ['--email', 'canary@shop.example']],
    [0, ['--email', '-']],
    [2, ['--email', 'canary@']],
    [2, ['--key', 'canary@shop.example']],
  ])('exits with %d after %j, and prints, logs and stores no address', async (exitCode, args) => {
    const commands = await shared('anna@shop.example')
    for (const more of [[], ['--json'], ['--debug']]) {
      const input = () => Readable.from([Buffer.from('canary@shop.example')])
      const io = testIo({ env: { ...commands.env, PI_LOG_LEVEL: 'debug' }, input })
      expect(await runCli(['identity', name, ...args, ...more], io)).toBe(exitCode)
      expect([...io.lines, ...io.errors].join('\n')).not.toContain('canary')
    }
    const folder = dirname(commands.path)
    const stored = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'latin1'))
    expect(stored.join()).toContain('identity_accounts')
    expect(stored.join()).not.toContain('canary')
  })

  it.each([
    [['--email', 'anna@'], '--email expects an e-mail address'],
    [['--email', ''], '--email expects an e-mail address'],
    [['--email', '-'], '--email expects an e-mail address; the given text is not one.'],
    [['--key', 'ab'.repeat(31)], '--key expects a keyed hash of 64 hex digits'],
    [['--key', 'ab'.repeat(32), '--email', 'anna@shop.example'], 'cannot be used with'],
    [['--limit', '0'], '--limit'],
  ])('%j is misuse', async (args, sentence) => {
    const commands = await shared()
    const { exitCode, err, out } = await commands.runWith('x'.repeat(4_097), name, ...args)
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' })
    expect(err).toContain(sentence)
  })

  it('exits with 2 without an identity provider, and names the variables to set', async () => {
    const commands = getCommands('identity')
    await commands.make()
    const { exitCode, out, err } = await commands.run(name)
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' })
    expect(err).toMatch(/^Sharing identity verifications is off: .* PI_IDENTITY_/)
  })
})

/** Every outcome that `identity shares` prints. */
const outcomes: Readonly<Record<ShareOutcome, true>> = {
  ...{ started: true, redeemed: true, found: true, reported: true, resolved: true, already_approved: true },
  ...{ in_flight: true, rejected: true, not_donated: true, concurrent: true, unknown: true, unresolved: true },
  ...{ absent: true, foreign: true, surplus: true, late: true, exhausted: true, misconfigured: true },
  ...{ throttled: true, unavailable: true },
}

it('the guide explains every outcome that identity shares prints, once, and no other', async () => {
  const page = new URL('../../../../docs/guides/operate-shared-verifications.md', import.meta.url)
  const [, table = ''] = (await readFile(page, 'utf8')).split('| Outcome of a share | Meaning |\n')
  const rows = table.split('\n\n', 1)[0]?.split('\n') ?? []
  const names = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name))
  expect(names.sort()).toEqual(Object.keys(outcomes).sort())
})
