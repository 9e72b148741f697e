/** Health, for operators and load balancers. @module */
import { degraded, down, healthy } from './examples.js'
import { operation } from './operation.js'
import { json } from './references.js'
import { answer } from './responses.js'
import { open } from './security.js'
import type { PathItem } from './types.js'

const tags = ['Health']

/** Both endpoints, by path. */
export const healthOperations: Readonly<Record<string, PathItem>> = {
  '/health': {
    get: operation({
      operationId: 'getHealth',
      tags,
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
      tags,
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
