import { describe, expect, test } from 'vitest'
import { donor, started } from './support.js'

const find = (name: string) =>
  ({ method: 'GET', uri: `/resources/applicants/-;externalUserId=${encodeURIComponent(name)}/one` }) as const

describe('looking up an applicant', () => {
  test.each(['pi:1', 'a/b', 'a;b=c', 'é 🔑', '%41'])('finds the one named %j', async (externalUserId) => {
    const { provider, ask } = await started()
    const { id } = provider.addApplicant({ clientId: 'ServiceCo', externalUserId })
    expect(await ask(find(externalUserId))).toMatchObject({ status: 200, json: { id, externalUserId } })
  })

  test('does not see those of other clients, nor those that are deleted', async () => {
    const { provider, ask } = await started()
    const { id } = provider.addApplicant({ clientId: 'ServiceCo', externalUserId: 'pi:1' })
    expect((await ask({ ...find('pi:1'), by: donor })).status).toBe(404)
    const uri = `/resources/applicants/${id}/status`
    expect((await ask({ method: 'GET', uri })).status).toBe(200)
    expect((await ask({ method: 'GET', uri, by: donor })).status).toBe(404)
    provider.deleteApplicant(id)
    expect(await ask(find('pi:1'))).toMatchObject({
      status: 404,
      json: { code: 404, description: 'Applicant not found', correlationId: expect.any(String) },
    })
  })

  test('the status shows the attempt, the times and the verdict', async () => {
    const { provider, clock, ask } = await started()
    const { id } = provider.addApplicant({ clientId: 'ServiceCo', as: 'init' })
    const status = { method: 'GET', uri: `/resources/applicants/${id}/status` } as const
    expect((await ask(status)).json).toMatchObject({ reviewStatus: 'init', attemptCnt: 0, levelName: 'basic' })
    provider.handIn(id)
    clock.advance(61_000)
    const pending = { reviewStatus: 'pending', attemptCnt: 1, elapsedSincePendingMs: 61_000 }
    expect((await ask(status)).json).toMatchObject(pending)
    provider.reject(id, { labels: ['FORGERY'], rejectType: 'FINAL', clientComment: 'not for the applicant' })
    expect((await ask(status)).json).toMatchObject({
      createDate: '2026-01-01 00:00:00+0000',
      reviewDate: '2026-01-01 00:01:01+0000',
      reviewStatus: 'completed',
      reviewResult: { reviewAnswer: 'RED', rejectLabels: ['FORGERY'], reviewRejectType: 'FINAL' },
    })
  })

  test.each([
    ['PUT', '/resources/applicants/1/status', 405],
    ['GET', '/resources/applicants/1/two', 404],
    ['GET', '/', 404],
  ] as const)('%s %s is answered %i', async (method, uri, status) => {
    const { ask } = await started()
    expect((await ask({ method, uri })).status).toBe(status)
  })
})

test('an unknown id is a RangeError in the control', async () => {
  const { provider } = await started()
  expect(() => provider.approve('none')).toThrow(RangeError)
  expect(() => provider.addApplicant({ clientId: 'none' })).toThrow(RangeError)
  expect(() => provider.addApplicant({ clientId: 'ServiceCo', levelName: 'none' })).toThrow(RangeError)
  expect(() => provider.setWebhooks('none', [])).toThrow(RangeError)
  const { id: applicantId } = provider.addApplicant({ clientId: 'DonorCo' })
  expect(() => provider.mintShareToken({ applicantId, forClientId: 'none' })).toThrow(RangeError)
  expect(() => provider.mintShareToken({ applicantId: 'none', forClientId: 'ServiceCo' })).toThrow(RangeError)
  expect(provider.applicant('none')).toBeNull()
})
