/** The legacy look-up and verify. Source: docs/interface.md 4.3. @module */
import { paths } from '../paths.js'
import { legacyError, lookup, notVerified, verified, verifyRequest } from './examples.js'
import { operation } from './operation.js'
import { legacyChainId, legacyTxHash } from './parameters.js'
import { json } from './references.js'
import { answer } from './responses.js'
import { withLegacyKey } from './security.js'
import type { PathItem } from './types.js'

const tags = ['Legacy']
const invalid = answer(
  'The request is malformed; `details` lists every flaw. Malformed HTTP has no `details`.',
  json(['LegacyErrorBody', 'ErrorBody'], {
    details: { summary: 'An invalid hash', value: legacyError },
    framing: { summary: 'Malformed HTTP', value: { error: 'Header host is given more than once' } },
  }),
)

/** Both endpoints, by path. */
export const legacyOperations: Readonly<Record<string, PathItem>> = {
  [paths.legacyLookup]: {
    get: operation({
      operationId: 'lookUpTransaction',
      tags,
      summary: 'Look up a transaction',
      description: 'All payments of a transaction, with amounts, fees and the conversion of the invoice.',
      security: withLegacyKey,
      parameters: [legacyChainId, legacyTxHash],
      responses: {
        200: answer('The payments.', json('Lookup', { lookup: { summary: 'One payment', value: lookup } })),
        400: invalid,
        401: 'LegacyUnauthorized',
        404: 'TransactionNotFound',
      },
    }),
  },
  [paths.legacyVerify]: {
    post: operation({
      operationId: 'verifyTransaction',
      tags,
      summary: 'Look up and verify a transaction',
      description:
        'All payments of a transaction, each compared with an invoice and with the link configuration of the receiver. ' +
        'A payment whose block left the chain is omitted. If the fees of third parties exceed the limit of the service, the error is `Invalid payment amount`.',
      security: withLegacyKey,
      requestBody: {
        description:
          'The invoice as JSON in UTF-8, at most 16 KB. Any content type is accepted, and a request without one too.',
        required: true,
        content: json('VerifyRequest', { request: { summary: 'An invoice', value: verifyRequest } }),
      },
      responses: {
        200: answer('Every payment matches.', json('Verify', { verified: { summary: 'A match', value: verified } })),
        400: invalid,
        401: 'LegacyUnauthorized',
        404: 'TransactionNotFound',
        409: answer(
          'At least one payment does not match; `verificationErrors` lists the reasons.',
          json('Verify', { different: { summary: 'Another amount', value: notVerified } }),
        ),
        413: 'TooLarge',
      },
    }),
  },
}
