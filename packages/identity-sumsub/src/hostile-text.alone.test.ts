/** Text from the provider takes at most linear time. @module */
import { createHmac } from 'node:crypto'
import { testGrowth } from '../../../tools/scripts/growth.js'
import { classifyFailure } from './signed-calls.js'
import { parseApplicant, parseReview, parseTime } from './sumsub-client.js'
import { createWebhookReader } from './webhook-reader.js'

const secret = 'a-secret-of-the-webhook'
const readWebhook = createWebhookReader({ secret })
const algorithm = 'HMAC_SHA256_HEX'

testGrowth(
  {
    'the digest of a webhook': (digest) => readWebhook({ body: new Uint8Array(), digest, algorithm }),
    'the algorithm of a webhook': (text) => readWebhook({ body: new Uint8Array(), digest: text, algorithm: text }),
    'a webhook': async (text) => {
      const body = Buffer.from(text)
      // The reader parses only signed bodies, so the test signs this one.
      await readWebhook({ body, digest: createHmac('sha256', secret).update(body).digest('hex'), algorithm })
    },
    'the description of an error': (text) =>
      classifyFailure(
        { status: 401, ok: false, json: { description: text, errorName: text }, retryAfterMs: null },
        { sentShareToken: true },
      ),
    'a time': parseTime,
    'an applicant': (text) => parseApplicant(200, { id: text, createdAt: text, review: { reviewStatus: text } }),
    'a review': (text) => parseReview(text, { reviewAnswer: text, rejectLabels: text.split(' ') }),
  },
  { begins: ['2020-02-21 13:23:19.', '{"type":"applicantReset","a":"', 'Token is invalid'], parts: ['2020-', ':19'] },
)
