import { kycUnavailableBody, shareRejectedMessage } from '@payment-integration/contract/internal'
import { expect, test } from 'vitest'
import { apiSecret, integrationAddress, type Reply, serveReplies } from '../../test/fixtures.js'
import { runReadme } from '../../test/run-readme.js'
import { email, kycShareToken, rejection, shareResponse } from '../../test/share-fixtures.js'

test.each<[string, Reply, string]>([
  ['reports that the provider waits for documents', { body: shareResponse() }, 'no verdict yet: init'],
  [
    'reports why a verification was rejected, and that a retry may help',
    {
      body: shareResponse({
        reviewStatus: 'completed',
        reviewAnswer: 'RED',
        rejectType: 'RETRY',
        rejectLabels: ['BAD_SELFIE'],
      }),
    },
    'rejected: BAD_SELFIE, try again: true',
  ],
  [
    'asks for a fresh token',
    { status: 422, body: rejection('Token is invalid') },
    'mint a fresh token: Token is invalid',
  ],
  [
    'asks for a correction first where the user was rejected',
    {
      status: 422,
      body: rejection(shareRejectedMessage('Token is invalid', { rejectType: 'RETRY', rejectLabels: ['BAD_SELFIE'] })),
    },
    'correct the flaw, then mint a fresh token: Token is invalid. The verification shared before was rejected: RED, RETRY. Labels: BAD_SELFIE.',
  ],
  [
    'stops after a final rejection',
    {
      status: 422,
      body: rejection(shareRejectedMessage('Token is invalid', { rejectType: 'FINAL', rejectLabels: ['FORGERY'] })),
    },
    'stop: Token is invalid. The verification shared before was rejected: RED, FINAL. Labels: FORGERY.',
  ],
  [
    'reports a verification that another integration shared',
    { status: 409, body: kycUnavailableBody },
    'verified elsewhere',
  ],
])(
  'the block of the guide about sharing %s',
  async (_case, reply, printed) => {
    await using server = await serveReplies(reply)
    const variables = {
      PAYMENTS_URL: server.url,
      INTEGRATION_ADDRESS: integrationAddress,
      API_SECRET: apiSecret,
      USER_EMAIL: email,
      SHARE_TOKEN: kycShareToken,
    }
    expect(await runReadme('docs/guides/share-a-verification.md', variables)).toBe(`${printed}\n`)
    expect(server.requests.map(({ body }) => JSON.parse(body))).toEqual([{ email, kycShareToken }])
  },
  60_000,
)
