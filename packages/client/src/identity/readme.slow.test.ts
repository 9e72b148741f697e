import { formatShareRejection, verificationUnavailableBody } from '@payment-integration/contract/internal'
import { expect, test } from 'vitest'
import { apiSecret, integrationAddress, type Reply, serveReplies } from '../../test/fixtures.js'
import { runReadme } from '../../test/run-readme.js'
import { email, kycShareToken, rejection, shareResponse } from '../../test/share-fixtures.js'

const says = 'Token is invalid. The verification shared before was rejected: RED'
const red: Parameters<typeof shareResponse>[0] = {
  reviewStatus: 'completed',
  reviewAnswer: 'RED',
  rejectType: 'RETRY',
  rejectLabels: ['BAD_SELFIE'],
}
const rejected = (former: Parameters<typeof formatShareRejection>[1]): Reply => ({
  status: 422,
  body: rejection(formatShareRejection('Token is invalid', former)),
})

test.each<[string, Reply, string]>([
  ['reports that the provider waits for documents', { body: shareResponse() }, 'no verdict yet: init'],
  [
    'reports why a verification was rejected, and that a retry may help',
    { body: shareResponse(red) },
    'rejected: BAD_SELFIE, try again: true',
  ],
  ['asks for a fresh token', rejected(null), 'mint a fresh token: Token is invalid'],
  [
    'asks for a correction first where the user was rejected',
    rejected({ rejectType: 'RETRY', rejectLabels: ['BAD_SELFIE'] }),
    `correct the flaw, then mint a fresh token: ${says}, RETRY. Labels: BAD_SELFIE.`,
  ],
  [
    'stops after a final rejection',
    rejected({ rejectType: 'FINAL', rejectLabels: ['FORGERY'] }),
    `stop: ${says}, FINAL. Labels: FORGERY.`,
  ],
  [
    'reports a verification of another integration',
    { status: 409, body: verificationUnavailableBody },
    'verified elsewhere',
  ],
])('the block of the guide about sharing %s', async (_case, reply, printed) => {
  await using server = await serveReplies(reply)
  const variables = {
    ...{ PAYMENTS_URL: server.url, INTEGRATION_ADDRESS: integrationAddress, API_SECRET: apiSecret },
    ...{ USER_EMAIL: email, SHARE_TOKEN: kycShareToken },
  }
  expect(await runReadme('docs/guides/share-a-verification.md', variables)).toBe(`${printed}\n`)
  expect(server.requests.map(({ body }) => JSON.parse(body))).toEqual([{ email, kycShareToken }])
})
