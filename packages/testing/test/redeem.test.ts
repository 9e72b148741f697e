import { describe, expect, test } from 'vitest'
import { donor, newToken, reuseUri, service, started } from './support.js'

describe('reusing a verification', () => {
  test('with every step covered the checks begin, and a verdict can follow', async () => {
    const { provider, ask } = await started()
    const token = newToken(provider)
    const { status, json } = await ask({ uri: reuseUri(token) })
    expect(status).toBe(200)
    expect(json).toMatchObject({ clientId: 'ServiceCo', externalUserId: 'pi:1', review: { reviewStatus: 'pending' } })
    const applicantId = String(json['id'])
    expect(provider.redemptions).toEqual([
      { token, by: 'reuse', clientId: 'ServiceCo', externalUserId: 'pi:1', applicantId, at: Date.UTC(2026, 0, 1) },
    ])
    provider.approve(applicantId)
    const green = { reviewStatus: 'completed', reviewResult: { reviewAnswer: 'GREEN' } }
    expect(provider.applicant(applicantId)).toMatchObject(green)
  })

  test('with some steps covered documents are requested until they are submitted', async () => {
    const { provider, ask } = await started()
    const { json } = await ask({ uri: reuseUri(newToken(provider), { level: 'strict' }) })
    expect(json).toMatchObject({ review: { reviewStatus: 'init' } })
    const id = String(json['id'])
    expect(provider.applicant(id)?.steps).toEqual(['IDENTITY'])
    provider.handIn(id)
    expect(provider.applicant(id)).toMatchObject({ reviewStatus: 'pending', steps: ['IDENTITY', 'PROOF_OF_FUNDS'] })
  })

  test('the answer omits the review when showsReview is false', async () => {
    const { provider, ask } = await started({ showsReview: false })
    const { json } = await ask({ uri: reuseUri(newToken(provider)) })
    expect(json).not.toHaveProperty('review')
    expect(json).toHaveProperty('id')
  })

  test.each([
    ['no step in common', { level: 'other' }, 400, 10512],
    ['an unknown level', { level: 'none' }, 404, undefined],
    ['a level named like a method of every object', { level: 'toString' }, 404, undefined],
    ['a taken name', { userId: 'taken' }, 409, undefined],
  ])('%s is rejected, and the token stays unused', async (_, change, status, errorCode) => {
    const { provider, ask } = await started()
    provider.addApplicant({ clientId: 'ServiceCo', externalUserId: 'taken' })
    const token = newToken(provider)
    const answer = await ask({ uri: reuseUri(token, change) })
    expect([answer.status, answer.json['errorCode']]).toEqual([status, errorCode])
    expect(provider.redemptions).toEqual([])
    expect((await ask({ uri: reuseUri(token) })).status).toBe(200)
  })

  test.each([
    ['rejected', 10507],
    ['pending', 10507],
    ['init', 10507],
    ['switched off', 10508],
    ['deleted', 10508],
  ] as const)('a donor who is %s is rejected with %i', async (how, errorCode) => {
    const { provider, ask } = await started()
    const as = how === 'switched off' || how === 'deleted' ? undefined : how
    const { id } = provider.addApplicant({ clientId: 'DonorCo', ...(as && { as }) })
    const token = provider.mintShareToken({ applicantId: id, forClientId: 'ServiceCo' })
    if (how === 'deleted') provider.deleteApplicant(id)
    if (how === 'switched off') provider.setActive(id, false)
    expect((await ask({ uri: reuseUri(token) })).json).toMatchObject({ errorCode })
  })

  test('the token of another client is rejected with 10502, and one of no partner with 10501', async () => {
    const third = { ...service, clientId: 'Third', appToken: 'sbx:third.token' }
    const closed = { ...service, partners: [] }
    const { provider, ask } = await started({ clients: [donor, closed, third] })
    const token = newToken(provider)
    expect((await ask({ uri: reuseUri(token), by: third })).json).toMatchObject({ errorCode: 10502 })
    expect((await ask({ uri: reuseUri(token), by: closed })).json).toMatchObject({ errorCode: 10501 })
  })

  test('reuse switched off is 10505, copying switched off is 10518', async () => {
    const disabled = { ...service, reuseDisabled: true, copyDisabled: true }
    const { provider, ask } = await started({ clients: [donor, disabled] })
    const token = newToken(provider)
    expect((await ask({ uri: reuseUri(token) })).json).toMatchObject({ errorCode: 10505 })
    const copying = await ask({ uri: `/resources/applicants/-/import?shareToken=${token}` })
    expect(copying.json).toMatchObject({ errorCode: 10518, errorName: 'copy-applicant-disabled' })
  })

  test('of fifty requests at once one redeems', async () => {
    const { provider, ask } = await started()
    const token = newToken(provider)
    const requests = Array.from({ length: 50 }, (_, n) => ask({ uri: reuseUri(token, { userId: `pi:${n}` }) }))
    const statuses = (await Promise.all(requests)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 401)).toHaveLength(49)
    expect(provider.redemptions).toHaveLength(1)
    expect(provider.applicants('ServiceCo')).toHaveLength(1)
  })
})

test('copying an applicant chooses the name of the copy, waits at init and uses the token', async () => {
  const { provider, ask } = await started()
  const token = newToken(provider)
  const uri = `/resources/applicants/-/import?${new URLSearchParams({ shareToken: token, userId: 'pi:1' })}`
  const { status, json } = await ask({ uri })
  expect(status).toBe(200)
  expect(json['externalUserId']).toMatch(/^copy-/)
  expect(json).toMatchObject({ review: { reviewStatus: 'init' } })
  expect(provider.redemptions).toMatchObject([{ by: 'import', applicantId: json['id'] }])
  expect((await ask({ uri })).status).toBe(401)
})
