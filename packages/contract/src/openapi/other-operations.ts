/** Legacy look-ups, updates of processors, and health. Source: docs/interface.md 4.3. @module */

import { notFoundBody } from '../errors.js'
import { paths } from '../wire.js'
import {
  degraded,
  down,
  healthy,
  legacyError,
  lookup,
  notVerified,
  update,
  updateApplied,
  updateRefused,
  updateResults,
  updates,
  updateUnchanged,
  updateWaiting,
  verified,
  verifyRequest,
} from './examples.js'
import {
  answer,
  errorAnswer,
  json,
  legacyChainId,
  legacyTxHash,
  open,
  operation,
  signedByProcessor,
  withLegacyKey,
} from './parts.js'
import type { PathItem } from './types.js'

const legacyTags = ['Legacy']
const invalid = answer(
  'The request is malformed; `details` lists every flaw. Malformed HTTP has no `details`.',
  json(['LegacyErrorBody', 'ErrorBody'], {
    details: { summary: 'An invalid hash', value: legacyError },
    framing: { summary: 'Malformed HTTP', value: { error: 'Header host is given more than once' } },
  }),
)

export const legacyOperations: Readonly<Record<string, PathItem>> = {
  [paths.legacyLookup]: {
    get: operation({
      operationId: 'lookUpTransaction',
      tags: legacyTags,
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
      tags: legacyTags,
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

export const processorOperations: Readonly<Record<string, PathItem>> = {
  [paths.processorUpdates]: {
    post: operation({
      operationId: 'applyProcessorUpdate',
      tags: ['Processor'],
      summary: 'Change the state or the merchant data of a payment',
      description:
        'Send an update again with the same id until the answer is 2xx or 4xx: it is applied once. Every update that changes the payment makes a new version and a notification. Several updates in one request are cheaper: they are answered 200 with the result of each.',
      security: signedByProcessor,
      requestBody: {
        description: 'The update, or up to 100 of them; at most 128 KB. An unknown field is rejected.',
        required: true,
        content: json(['ProcessorUpdate', 'ProcessorUpdates'], {
          update: { summary: 'A state and a merchant', value: update },
          updates: { summary: 'Several updates', value: updates },
        }),
      },
      responses: {
        200: answer(
          'The update was processed. Of several updates each has its result.',
          json(['UpdateResult', 'UpdateResults'], {
            applied: { summary: 'It made a new version', value: updateApplied },
            unchanged: { summary: 'It changed nothing', value: updateUnchanged },
            results: { summary: 'Several updates', value: updateResults },
          }),
        ),
        202: answer(
          'The payment is not indexed yet. The update is stored, and applied once the payment is indexed.',
          json('UpdateResult', { waiting: { summary: 'The update waits', value: updateWaiting } }),
        ),
        400: errorAnswer('The content is malformed.', 'Body is not UTF-8 JSON'),
        401: 'ProcessorUnauthorized',
        404: errorAnswer('No processor is connected to this service.', notFoundBody.error),
        409: errorAnswer(
          'The id was already used with different content.',
          'Update update-1 was already received with another content; send a change under a new id.',
        ),
        413: errorAnswer('The body is larger than 128 KB.', 'Body is larger than 131072 bytes'),
        415: 'NotJson',
        422: answer(
          'A rule forbids the update, for example the order of states.',
          json('UpdateRefused', { refused: { summary: 'A forbidden state', value: updateRefused } }),
        ),
      },
    }),
  },
}

const healthTags = ['Health']

export const healthOperations: Readonly<Record<string, PathItem>> = {
  '/health': {
    get: operation({
      operationId: 'getHealth',
      tags: healthTags,
      summary: 'Health of the service',
      description:
        'The answer has no data of any integration. Load balancers send requests to this process while the status is 200.',
      security: open,
      isProbe: true,
      responses: {
        200: answer(
          'Requests can be served.',
          json('Health', {
            ok: { summary: 'Everything works', value: healthy },
            degraded: { summary: 'A chain cannot be followed', value: degraded },
          }),
        ),
        503: answer(
          'Requests cannot be served.',
          json('Health', { down: { summary: 'The database does not answer', value: down } }),
        ),
      },
    }),
  },
  '/health/live': {
    get: operation({
      operationId: 'getLiveness',
      tags: healthTags,
      summary: 'Liveness of the process',
      description: 'Restart the process when it does not answer here.',
      security: open,
      isProbe: true,
      responses: {
        200: answer(
          'The process answers.',
          json('Liveness', { live: { summary: 'The process answers', value: { status: 'ok' } } }),
        ),
      },
    }),
  },
}
