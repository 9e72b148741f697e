import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import type { Review } from '@payment-integration/core/ports'
import { describe, expect, it } from 'vitest'
import { onService } from '../../../test/fill-deliveries.js'
import { identityCommands, listed, otherShop, shop } from '../../../test/identity-commands.js'
import { commandsOf } from '../../../test/run-commands.js'
import { eventsOf, testIo } from '../../../test/test-io.js'
import { runCli } from '../../run-cli.js'

const key = /[0-9a-f]{64}/
const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`
const { provider, mint, shared } = identityCommands()

const accountsOf = (events: Record<string, unknown>[]) =>
  events.map((each) => (each['verification'] as { accountId: string }).accountId)

describe('identity list', () => {
  it('prints where a verification stands and who shared it, by the keyed hash', async () => {
    const { run } = await shared('anna@shop.example')
    const { exitCode, lines, err } = await run('list')
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
    const applicant = provider().redemptions.at(-1)?.applicantId
    expect(lines).toEqual([
      expect.stringMatching(
        /^account +status +verdict +reviewed +shared by +applicant +attempts +under way +keyed hash of the e-mail$/,
      ),
      expect.stringMatching(
        new RegExp(String.raw`^\S+ +pending +- +- +0xa1a1a1[.][.]a1a1 +${applicant} +1 +- +${key.source}$`),
      ),
    ])
  })

  it('prints a verdict with its reasons, and what the provider wrote moves no cursor', async () => {
    const commands = await shared('anna@shop.example')
    const [accountId = ''] = accountsOf(await listed(commands, 'list'))
    const at = Date.UTC(2026, 0, 2, 3, 4, 5)
    const review = { reviewStatus: 'completed', reviewAnswer: 'RED', rejectType: 'RETRY' } as const
    await onService(commands.env, ({ store }) =>
      store.transaction((tx) =>
        tx.verifications.change(accountId, {
          review: { ...review, rejectLabels: ['BAD\u001b[2JSELFIE', 'FORGERY'] },
          reviewedAt: at,
        }),
      ),
    )
    expect((await commands.run('list')).lines[1]).toContain(
      'completed  RED RETRY BAD [2JSELFIE FORGERY  2026-01-02 03:04:05Z',
    )
    expect(await listed(commands, 'list')).toMatchObject([{ verification: { reviewedAt: at, review } }])
  })

  it('names no integration where the user was verified without one', async () => {
    const commands = await shared()
    const review: Review = { reviewStatus: 'completed', reviewAnswer: 'GREEN', rejectType: null, rejectLabels: [] }
    await onService(commands.env, async ({ identity }) => {
      const account = await (await identity?.claims())?.register('anna@shop.example')
      const at = Date.UTC(2026, 0, 2, 3, 4, 5)
      await identity?.recordDirect({ accountId: account?.accountId ?? '', applicantId: 'own', review, at })
    })
    expect((await commands.run('list', '--email', 'anna@shop.example')).lines[1]).toMatch(
      /^\S+ +completed +GREEN +2026-01-02 03:04:05Z +self +own +0 +- +[0-9a-f]{64}$/,
    )
  })

  it('prints with --json what is known of each, whole', async () => {
    const commands = await shared('anna@shop.example')
    expect(await listed(commands, 'list')).toEqual([
      {
        event: 'verification',
        verification: {
          ...{ accountId: expect.any(String), donor: shop, applicantId: provider().redemptions.at(-1)?.applicantId },
          review: { reviewStatus: 'pending', reviewAnswer: null, rejectType: null, rejectLabels: [] },
          ...{ reviewedAt: null, attempt: 1, attempts: 1, claimed: false, emailKey: expect.stringMatching(key) },
          ...{ doubt: null, presence: null, missing: null },
        },
      },
    ])
  })

  it('pages by account, and says in both forms that more follow', async () => {
    const commands = await shared('anna@shop.example', 'bert@shop.example', 'carl@shop.example')
    const ids = accountsOf(await listed(commands, 'list'))
    expect(ids).toHaveLength(3)
    const { lines } = await commands.run('list', '--limit', '2')
    expect(lines).toHaveLength(4)
    expect(lines.at(-1)).toBe(`2 shown, more follow: --after ${ids[1]} goes on.`)
    expect((await listed(commands, 'list', '--limit', '2')).at(-1)).toEqual({
      ...{ event: 'more', shown: 2, afterAccountId: ids[1] },
    })
    expect(await listed(commands, 'list', '--limit', '3')).toHaveLength(3)
    expect(await listed(commands, 'list', '--after', ids[1] ?? '')).toMatchObject([
      { verification: { accountId: ids[2] } },
    ])
  })
})

describe('identity attempts', () => {
  it('prints how each ended, newest first', async () => {
    const commands = await shared('anna@shop.example', 'anna@shop.example')
    await onService(commands.env, async ({ identity }) => {
      const request = { email: 'anna@shop.example', shareToken: mint() }
      await identity?.share({ ...request, integrationAddress: otherShop }).catch(() => undefined)
      await identity
        ?.share({ integrationAddress: shop, email: 'bert@shop.example', shareToken: 'no token' })
        .catch(() => undefined)
    })
    const { exitCode, lines, err } = await commands.run('attempts')
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
    const line = (outcome: string, integration: string, name: string, code: string) =>
      expect.stringMatching(
        new RegExp(String.raw`^${time} +${outcome} +${integration} +\S+ +${name} +${code} +${key.source}$`),
      )
    const [ofShop, ofOther] = ['0xa1a1a1[.][.]a1a1', '0xb2b2b2[.][.]b2b2']
    expect(lines).toEqual([
      expect.stringMatching(
        /^at +outcome +integration +account +name of the applicant +code +keyed hash of the e-mail$/,
      ),
      line('rejected', ofShop, String.raw`pi:\S+:1`, '-'),
      line('claimed', ofShop, String.raw`pi:\S+:1`, '-'),
      line('not_donated', ofOther, '-', '-'),
      line('in_flight', ofShop, '-', '-'),
      line('redeemed', ofShop, String.raw`pi:\S+:1`, '-'),
      line('claimed', ofShop, String.raw`pi:\S+:1`, '-'),
    ])
  })

  it('says in both forms that there are older ones', async () => {
    const commands = await shared('anna@shop.example', 'anna@shop.example', 'anna@shop.example')
    const { lines } = await commands.run('attempts', '--limit', '2')
    expect(lines.slice(3)).toEqual(['The newest 2; there are older ones: a greater --limit shows them.'])
    expect(await listed(commands, 'attempts', '--limit', '2')).toMatchObject([
      { event: 'share.attempt', attempt: { outcome: 'in_flight', integrationAddress: shop, externalUserId: null } },
      { event: 'share.attempt', attempt: { outcome: 'in_flight' } },
      { event: 'more', shown: 2 },
    ])
    // The first of them left two lines: that a token may be sent, and that it was redeemed.
    expect(await listed(commands, 'attempts', '--limit', '4')).toHaveLength(4)
  })
})

describe('identity accounts', () => {
  it('prints registrations, codes, claims and refusals, newest first', async () => {
    const commands = await shared('anna@shop.example')
    const accountId = await onService(commands.env, async ({ identity }) => {
      const claims = await identity?.claims()
      if (claims === undefined) throw new Error('Sharing is off.')
      const registered = await claims.register('anna@shop.example')
      const { code } = await claims.requestCode('anna@shop.example')
      await claims.claimByCode('anna@shop.example', 'AAAA').catch(() => undefined)
      await claims.claimByCode('anna@shop.example', code, { accountId: registered.accountId })
      await claims.claimByAttestation('anna@shop.example', shop).catch(() => undefined)
      return registered.accountId
    })
    const { exitCode, lines } = await commands.run('accounts')
    expect(exitCode).toBe(0)
    const line = (what: string, account: string, rest: string) =>
      expect.stringMatching(new RegExp(`^${time} +${what} +${account} +${rest} +${key.source}$`))
    expect(lines).toEqual([
      expect.stringMatching(/^at +what +account +proof +attested by +why not +keyed hash of the e-mail$/),
      line('refused', accountId, 'attestation +0xa1a1a1[.][.]a1a1 +not_placeholder'),
      line('claimed', accountId, 'code +- +-'),
      line('refused', '-', 'code +- +code_wrong'),
      line('code_issued', '-', 'code +- +-'),
      line('registered', accountId, '- +- +-'),
    ])
    expect(await listed(commands, 'accounts', '--limit', '2')).toMatchObject([
      { event: 'account.event', accountEvent: { action: 'refused', by: shop, reason: 'not_placeholder' } },
      { event: 'account.event', accountEvent: { action: 'claimed', accountId, proof: 'code', reason: null } },
      { event: 'more', shown: 2 },
    ])
  })
})

describe('identity redemptions and verdicts', () => {
  it('print under which name a token was sent, and what the provider said of the applicant', async () => {
    const commands = await shared('anna@shop.example')
    const applicantId = provider().redemptions.at(-1)?.applicantId ?? ''
    expect(await listed(commands, 'redemptions')).toMatchObject([
      { event: 'redemption', redemption: { integrationAddress: shop, state: 'attached', applicantId } },
    ])
    expect((await commands.run('redemptions')).lines[1]).toMatch(
      new RegExp(String.raw`^${time} +attached +0xa1a1a1[.][.]a1a1 +\S+ +\S+ +${applicantId} +${key.source}$`),
    )
    expect(await listed(commands, 'verdicts')).toMatchObject([
      { event: 'verdict', verdict: { source: 'redemption', news: 'review', applicantId, outcome: 'applied' } },
    ])
    expect((await commands.run('verdicts')).lines[1]).toMatch(
      new RegExp(String.raw`^${time} +redemption +review +pending +- +\S+.* applied +\S+ +${applicantId}$`),
    )
  })
})

describe.each(['list', 'attempts'])('identity %s', (name) => {
  it('has help with its options and an example', async () => {
    const { exitCode, out } = await commandsOf('identity').run(name, '--help')
    expect(exitCode).toBe(0)
    for (const word of ['--email <address>', '--key <keyed hash>', '--limit', '--database', 'Examples:'])
      expect(out).toContain(word)
    expect(out).toContain(`$ payment-integration identity ${name}`)
  })

  const keysOf = (events: Record<string, unknown>[]) =>
    events.map((each) => ((each['verification'] ?? each['attempt']) as { emailKey: string }).emailKey)

  it('finds an address in any spelling, from standard input too, and by its keyed hash', async () => {
    const commands = await shared('anna@bücher.example', 'bert@shop.example')
    const ofAnna = keysOf(await listed(commands, name, '--email', 'ANNA@xn--bcher-kva.example'))
    const [annaKey = ''] = ofAnna
    expect(annaKey).toMatch(key)
    const linesOfEach = name === 'list' ? 1 : 2
    expect(ofAnna).toEqual(Array(linesOfEach).fill(annaKey))
    expect(keysOf(await listed(commands, name))).toHaveLength(2 * linesOfEach)
    expect(keysOf(await listed(commands, name, '--key', annaKey.toUpperCase()))).toEqual(ofAnna)
    const { io } = await commands.runWith('anna@bücher.example\n', name, '--email', '-', '--json')
    expect(keysOf(eventsOf(io))).toEqual(ofAnna)
  })

  it.each<[0 | 2, string[]]>([
    [0, ['--email', 'canary@shop.example']],
    [0, ['--email', '-']],
    [2, ['--email', 'canary@']],
    [2, ['--key', 'canary@shop.example']],
  ])('ends %d after %j, and prints, logs and stores no address of it', async (exitCode, args) => {
    const commands = await shared('anna@shop.example')
    for (const more of [[], ['--json'], ['--debug']]) {
      const input = () => Readable.from([Buffer.from('canary@shop.example')])
      const io = testIo({ env: { ...commands.env, PI_LOG_LEVEL: 'debug' }, input })
      expect(await runCli(['identity', name, ...args, ...more], io)).toBe(exitCode)
      expect([...io.lines, ...io.errors].join('\n')).not.toContain('canary')
    }
    const stored = readdirSync(dirname(commands.path)).map((file) =>
      readFileSync(join(dirname(commands.path), file), 'latin1'),
    )
    expect(stored.join()).toContain('identity_accounts')
    expect(stored.join()).not.toContain('canary')
  })

  it('says so when none fits; with --json it prints nothing', async () => {
    const commands = await shared()
    const none = name === 'list' ? 'No verification fits.' : 'No attempt fits.'
    expect((await commands.run(name, '--email', 'anna@shop.example')).lines).toEqual([none])
    expect(await listed(commands, name, '--key', 'ab'.repeat(32))).toEqual([])
  })

  it.each([
    [['--email', 'anna@'], '--email expects an e-mail address'],
    [['--email', ''], '--email expects an e-mail address'],
    [['--email', '-'], 'Standard input is longer than one e-mail address.'],
    [['--key', 'ab'.repeat(31)], '--key expects a keyed hash of 64 hex digits'],
    [['--key', 'ab'.repeat(32), '--email', 'anna@shop.example'], 'cannot be used with'],
    [['--limit', '0'], '--limit'],
  ])('%j is misuse', async (args, sentence) => {
    const commands = await shared()
    const { exitCode, err, out } = await commands.runWith('x'.repeat(4_097), name, ...args)
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' })
    expect(err).toContain(sentence)
  })

  it('ends 2 where no identity provider is configured, and says what to set', async () => {
    const commands = commandsOf('identity')
    await commands.make()
    const { exitCode, out, err } = await commands.run(name)
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' })
    expect(err).toMatch(/^Sharing identity verifications is off: .* PI_IDENTITY_/)
  })
})
