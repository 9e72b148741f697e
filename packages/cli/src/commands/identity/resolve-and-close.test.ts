import type { VerificationChange } from '@payment-integration/core/internal'
import type { Review } from '@payment-integration/core/ports'
import { describe, expect, it } from 'vitest'
import { onService } from '../../../test/fill-deliveries.js'
import {
  addRedemption,
  changeVerification,
  getAudit,
  identityCommands,
  listed,
  shop,
} from '../../../test/identity-commands.js'
import { getEvents } from '../../../test/test-io.js'

const { provider, shared } = identityCommands()

describe('identity resolve', () => {
  /** A database with one redemption whose answer was lost, and whose name no look-up finds. */
  async function unresolved() {
    const commands = await shared('anna@shop.example')
    const name = 'pi:lost:9'
    await addRedemption(commands.env, { externalUserId: name, isFindable: false }, { state: 'unresolved' })
    return { ...commands, name }
  }

  it('resolves a redemption that created no applicant, once', async () => {
    const { run, name } = await unresolved()
    const out = 'Resolved: the redemption created no applicant, and the user may share again.'
    expect(await run('resolve', name, '--none')).toMatchObject({ exitCode: 0, out })
    const again = { exitCode: 1, out: expect.stringContaining('unresolved') }
    expect(await run('resolve', name, '--none')).toMatchObject(again)
  })

  it('attaches the applicant of a redemption, when the provider knows it', async () => {
    const commands = await unresolved()
    const { run, name } = commands
    expect(await run('resolve', name, '--applicant', 'nobody')).toMatchObject({ exitCode: 1 })
    const { id } = provider().addApplicant({ clientId: 'Service', as: 'pending' })
    const { exitCode, out } = await run('resolve', name, '--applicant', id, '--json')
    const event = { event: 'redemption.resolved', externalUserId: name, result: 'attached' }
    expect([exitCode, out]).toEqual([0, JSON.stringify(event)])
    expect(await listed(commands, 'list')).toMatchObject([{ subject: { applicantId: id, attachedNumber: 9 } }])
  })

  it('names the states that it accepts, in its help and in its rejection', async () => {
    const { run } = await unresolved()
    const { out: help } = await run('resolve', '--help')
    const { out: rejection } = await run('resolve', 'pi:nobody:1', '--none')
    for (const state of ['unresolved', 'unknown', 'in_flight'])
      for (const text of [help, rejection]) expect(text).toContain(state)
  })
})

describe('identity close', () => {
  const deactivated = { isActive: false, at: 1_000 }
  const missing = { since: 1_000, reported: false, confirmed: false }
  const approved: Review = { reviewStatus: 'completed', reviewAnswer: 'GREEN', rejectType: null, rejectLabels: [] }

  /** A database with verifications of two addresses, of which the first one is changed. */
  async function changed(change: VerificationChange) {
    const commands = await shared('anna@shop.example', 'bert@shop.example')
    const view = async () => {
      const [{ subject } = {}] = await listed(commands, 'list', '--email', 'anna@shop.example')
      return subject as { id: string; applicantId: string; emailKey: string }
    }
    const { id, applicantId, emailKey } = await view()
    const apply = (more: VerificationChange) => changeVerification(commands.env, id, more)
    await apply(change)
    return { ...commands, id, applicantId, emailKey, view, apply }
  }

  it('prints the plan in a dry run; with --apply closes the hold, and the audit log names the actor', async () => {
    const { run, env, id, applicantId, emailKey, view } = await changed({ presence: deactivated })
    const plan = [`${id}  ${applicantId}  would no longer be on hold`]
    const lines = [...plan, 'Nothing was changed; --apply closes these verifications.']
    expect(await run('close', '--hold', '--key', emailKey)).toMatchObject({ exitCode: 0, lines })
    expect([await view(), await getAudit(env)]).toMatchObject([{ presence: deactivated }, []])
    const done = await run('close', '--hold', '--subject', id, '--apply', '--actor', 'alice')
    expect(done).toMatchObject({ exitCode: 0, lines: [`${id}  ${applicantId}  is no longer on hold`] })
    expect(await view()).toMatchObject({ presence: { isActive: true, at: 1_000 } })
    expect(await getAudit(env)).toMatchObject([
      { actor: 'alice', action: 'identity.hold_closed', subject: applicantId, details: { emailKey } },
    ])
    expect((await run('close', '--hold', '--key', emailKey, '--apply')).exitCode).toBe(1)
  })

  it('does not close the wait for an applicant that the provider knows, nor when it knows no other of that time', async () => {
    const { run, env, id, applicantId, apply } = await changed({ missing })
    const closing = await run('close', '--missing', '--subject', id, '--apply')
    expect(closing.exitCode).toBe(1)
    const known = `^${id}  ${applicantId}  not closed: the provider knows the applicant`
    expect(closing.lines).toEqual([expect.stringMatching(known)])
    await apply({ applicantId: 'deleted', review: approved, reviewedAt: 5 })
    const unproven = await run('close', '--missing', '--subject', id, '--apply')
    expect(unproven.exitCode).toBe(1)
    expect(unproven.out).toContain('check the tenant and the environment')
    expect(await getAudit(env)).toEqual([])
  })

  it('closes the wait for a deleted applicant while another of its time is known', async () => {
    const deletedApplicant = { applicantId: 'deleted', review: approved, reviewedAt: 5, missing }
    const { run, env, id, view } = await changed(deletedApplicant)
    const subjects = await onService(env, ({ store }) => store.identity.subjects({ limit: 9 }))
    for (const other of subjects) if (other.id !== id) await changeVerification(env, other.id, { reviewedAt: 4 })
    const attached = { state: 'attached', applicantId: 'deleted' } as const
    await addRedemption(env, { externalUserId: 'pi:gone:9', subjectId: id }, attached)
    const { io, exitCode } = await run('close', '--missing', '--email', 'anna@shop.example', '--apply', '--json')
    expect(exitCode).toBe(0)
    const event = { event: 'verification.closed', what: 'missing', subjectId: id, applicantId: 'deleted' }
    expect(getEvents(io)).toEqual([{ ...event, result: 'closed', applied: true }])
    expect(await view()).toMatchObject({ review: null, donor: shop, missing: { confirmed: true } })
    expect(await getAudit(env)).toMatchObject([{ action: 'identity.missing_closed', subject: 'deleted' }])
  })

  it.each([
    [['--hold'], 1, 'No matching verification is on hold.'],
    [['--missing', '--apply'], 1, 'No matching verification is missing.'],
  ])('%j reports that there is nothing to close', async (args, exitCode, text) => {
    const { run, id, env } = await changed({})
    expect(await run('close', ...args, '--subject', id)).toMatchObject({ exitCode, out: text })
    expect(await run('close', ...args, '--subject', 'nobody')).toMatchObject({ exitCode, out: text })
    expect(await getAudit(env)).toEqual([])
  })

  it.each([
    ...['--subject x', '--hold --missing --subject x', '--hold', '--hold --key short'],
    `--hold --subject x --key ${'ab'.repeat(32)}`,
  ])('%j is misuse', async (args) => {
    const { run } = await shared()
    expect(await run('close', ...args.split(' '))).toMatchObject({ exitCode: 2, out: '' })
  })
})
