import type { Review, VerificationChange } from '@payment-integration/core/ports'
import { describe, expect, it } from 'vitest'
import { onService } from '../../../test/fill-deliveries.js'
import { auditOf, identityCommands, listed, shop } from '../../../test/identity-commands.js'
import { eventsOf } from '../../../test/test-io.js'

const { provider, shared } = identityCommands()

describe('identity settle', () => {
  /** A database with one attempt whose answer was lost, and that the older endpoint's names do not find. */
  async function unresolved() {
    const commands = await shared('anna@shop.example')
    const name = 'pi:lost:9'
    await onService(commands.env, async ({ store }) => {
      const [found] = await store.verifications.redemptions({ limit: 1 })
      if (found === undefined) throw new Error('There is no redemption.')
      const lost = { ...found, externalUserId: name, number: 9, isFindable: false, applicantId: null }
      await store.transaction((tx) => tx.verifications.addRedemption({ ...lost, state: 'unresolved' }))
    })
    return { ...commands, name }
  }

  it('ends an attempt of which nothing came, once', async () => {
    const { run, name } = await unresolved()
    expect(await run('settle', name, '--none')).toMatchObject({
      ...{ exitCode: 0, out: 'Settled: nothing came of the attempt, and the account may redeem again.' },
    })
    expect(await run('settle', name, '--none')).toMatchObject({
      exitCode: 1,
      out: expect.stringContaining('unresolved'),
    })
  })

  it('attaches the applicant that came of it, when the provider knows it', async () => {
    const commands = await unresolved()
    const { run, name } = commands
    expect(await run('settle', name, '--applicant', 'nobody')).toMatchObject({ exitCode: 1 })
    const { id } = provider().addApplicant({ clientId: 'Service', as: 'pending' })
    expect(await run('settle', name, '--applicant', id, '--json')).toMatchObject({
      ...{ exitCode: 0, out: JSON.stringify({ event: 'attempt.settled', externalUserId: name, outcome: 'attached' }) },
    })
    expect(await listed(commands, 'list')).toMatchObject([{ verification: { applicantId: id, attempt: 9 } }])
  })

  it('is in the audit log with who did it, once it changed something', async () => {
    const { run, env, name } = await unresolved()
    await run('settle', 'pi:nobody:1', '--none', '--actor', 'alice')
    expect(await auditOf(env)).toEqual([])
    await run('settle', name, '--none', '--actor', 'alice')
    const emailKey = expect.stringMatching(/^[0-9a-f]{64}$/)
    const details = { outcome: 'absent', applicantId: null, integrationAddress: shop, emailKey }
    expect(await auditOf(env)).toMatchObject([
      { actor: 'alice', action: 'identity.attempt_settled', subject: name, details },
    ])
  })

  it('says in its help which states it takes, as its refusal does', async () => {
    const { run } = await unresolved()
    const { out: help } = await run('settle', '--help')
    const { out: refusal } = await run('settle', 'pi:nobody:1', '--none')
    for (const state of ['unresolved', 'unknown', 'claimed'])
      for (const text of [help, refusal]) expect(text).toContain(state)
  })

  it.each([[[]], [['--none', '--applicant', 'x']], [['--applicant', '']], [['--applicant', ' ']]])(
    '%j is misuse',
    async (args) => {
      const { run } = await unresolved()
      expect((await run('settle', 'pi:lost:9', ...args)).exitCode).toBe(2)
    },
  )
})

describe('identity end', () => {
  const noted = { isActive: false, at: 1_000 }
  const absent = { since: 1_000, told: false, confirmed: false }
  const approved: Review = { reviewStatus: 'completed', reviewAnswer: 'GREEN', rejectType: null, rejectLabels: [] }

  /** A database with verifications of two addresses, and what is changed of the first one before. */
  async function holding(change: VerificationChange) {
    const commands = await shared('anna@shop.example', 'bert@shop.example')
    const verifications = (await listed(commands, 'list', '--email', 'anna@shop.example')).map(
      ({ verification }) => verification as { accountId: string; applicantId: string; emailKey: string },
    )
    const [{ accountId, applicantId, emailKey } = { accountId: '', applicantId: '', emailKey: '' }] = verifications
    await onService(commands.env, ({ store }) => store.transaction((tx) => tx.verifications.change(accountId, change)))
    const view = async () => {
      const [{ verification } = {}] = await listed(commands, 'list', '--email', 'anna@shop.example')
      return verification
    }
    return { ...commands, accountId, applicantId, emailKey, view }
  }

  it('tells in a dry run what it would end, and with --apply ends the hold and says who did in the audit log', async () => {
    const { run, env, accountId, applicantId, emailKey, view } = await holding({ presence: noted })
    const planned = await run('end', '--hold', '--key', emailKey)
    expect(planned).toMatchObject({ exitCode: 0 })
    expect(planned.lines).toEqual([
      `${accountId}  ${applicantId}  would be on hold no more`,
      'Nothing was changed; --apply does it.',
    ])
    expect([await view(), await auditOf(env)]).toMatchObject([{ presence: noted }, []])
    const done = await run('end', '--hold', '--account', accountId, '--apply', '--actor', 'alice')
    expect(done).toMatchObject({ exitCode: 0, lines: [`${accountId}  ${applicantId}  is on hold no more`] })
    expect(await view()).toMatchObject({ presence: { isActive: true, at: 1_000 } })
    expect(await auditOf(env)).toMatchObject([
      { actor: 'alice', action: 'identity.hold_ended', subject: applicantId, details: { emailKey } },
    ])
    expect((await run('end', '--hold', '--key', emailKey, '--apply')).exitCode).toBe(1)
  })

  it('ends no applicant that the provider knows, nor one of which it knows no company', async () => {
    const { run, env, accountId, applicantId } = await holding({ missing: absent })
    const known = await run('end', '--missing', '--account', accountId, '--apply')
    expect(known.exitCode).toBe(1)
    expect(known.lines).toEqual([
      expect.stringMatching(`^${accountId}  ${applicantId}  stays: the provider knows the applicant`),
    ])
    await onService(env, ({ store }) =>
      store.transaction((tx) =>
        tx.verifications.change(accountId, { applicantId: 'deleted', review: approved, reviewedAt: 5 }),
      ),
    )
    const unproven = await run('end', '--missing', '--account', accountId, '--apply')
    expect(unproven.exitCode).toBe(1)
    expect(unproven.out).toContain('check the tenant and the environment')
    expect(await auditOf(env)).toEqual([])
  })

  it('ends an applicant that is gone while others of its time are known, as JSON says', async () => {
    const gone = { applicantId: 'deleted', review: approved, reviewedAt: 5, missing: absent }
    const { run, env, accountId, view } = await holding(gone)
    await onService(env, async ({ store }) => {
      const others = (await store.verifications.list({ limit: 9 })).filter((each) => each.accountId !== accountId)
      const [lost] = await store.verifications.redemptions({ limit: 1 })
      if (lost === undefined) throw new Error('There is no redemption.')
      await store.transaction(async (tx) => {
        for (const other of others) await tx.verifications.change(other.accountId, { reviewedAt: 4 })
        const attempt = { ...lost, accountId, number: 9, externalUserId: 'pi:gone:9', applicantId: 'deleted' }
        await tx.verifications.addRedemption({ ...attempt, state: 'attached' })
      })
    })
    const { io, exitCode } = await run('end', '--missing', '--email', 'anna@shop.example', '--apply', '--json')
    expect(exitCode).toBe(0)
    expect(eventsOf(io)).toEqual([
      {
        ...{ event: 'verification.ended', what: 'missing', accountId, applicantId: 'deleted' },
        ...{ outcome: 'ended', applied: true },
      },
    ])
    expect(await view()).toMatchObject({ review: null, donor: shop, missing: { confirmed: true } })
    expect(await auditOf(env)).toMatchObject([{ action: 'identity.missing_ended', subject: 'deleted' }])
  })

  it.each([
    [['--hold'], 1, 'No applicant of that is on hold.'],
    [['--missing', '--apply'], 1, 'No applicant of that is missing.'],
  ])('%j says so when there is nothing to end', async (args, exitCode, text) => {
    const { run, accountId, env } = await holding({})
    expect(await run('end', ...args, '--account', accountId)).toMatchObject({ exitCode, out: text })
    expect(await run('end', ...args, '--account', 'nobody')).toMatchObject({ exitCode, out: text })
    expect(await auditOf(env)).toEqual([])
  })

  it.each([
    [['--account', 'x']],
    [['--hold', '--missing', '--account', 'x']],
    [['--hold']],
    [['--hold', '--account', 'x', '--key', 'ab'.repeat(32)]],
    [['--hold', '--key', 'short']],
  ])('%j is misuse', async (args) => {
    const { run } = await shared()
    expect(await run('end', ...args)).toMatchObject({ exitCode: 2, out: '' })
  })
})
