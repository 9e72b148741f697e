/**
 * Updates from payment processors. Source: docs/decisions/processor-updates.md, which completes docs/interface.md 1 and
 * 6.
 * @module
 */
import { notFoundBody } from '../errors.js'
import { paths } from '../paths.js'
import {
  update,
  updateApplied,
  updateRefused,
  updateResults,
  updates,
  updateUnchanged,
  updateWaiting,
} from './examples.js'
import { operation } from './operation.js'
import { json } from './references.js'
import { answer, errorAnswer } from './responses.js'
import { signedByProcessor } from './security.js'
import type { PathItem } from './types.js'

/** The one endpoint, by path. */
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
