/** Text from the program under test takes at most linear time. @module */
import { testGrowth } from '../../../vitest.growth.js'
import { findRoute } from './identity-provider/routes.js'
import { createTestService } from './service/create-test-service.js'
import { callerOf, hasLegacyKey } from './service/credentials.js'
import { emailKey } from './service/email-key.js'
import { createLegacyState, lookup } from './service/legacy-api.js'
import { contentTypeFlaw, encodingFlaw } from './service/read-json.js'

const requestOf = (text: string) => ({ headers: { get: () => text, has: () => false } }) as unknown as Request
const legacy = createLegacyState()

testGrowth(
  {
    'the address of the service': (text) =>
      createTestService({ baseUrl: `https://a.example/${text}`, integrations: [], legacyKeys: [] }),
    'Basic credentials': (text) => callerOf(requestOf(text), []),
    'a legacy key': (text) => hasLegacyKey(requestOf(text), []),
    'a content type': (text) => contentTypeFlaw(requestOf(text)),
    'a charset': (text) => encodingFlaw(requestOf(text)),
    'an e-mail address': emailKey,
    'a look-up': (text) => lookup(legacy, text, text),
    'a route of the provider': (text) => findRoute('GET', text),
  },
  {
    begins: [
      'Basic ',
      'Bearer ',
      'application/json',
      'a@',
      '/resources/applicants/',
      '/resources/applicants/-;externalUserId=',
    ],
    parts: ['a-', '-.', '.a', ' ;'],
  },
)
