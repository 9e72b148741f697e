/** Text from the program under test takes at most linear time. @module */
import { testGrowth } from '../../../vitest.growth.js'
import { parseHeaders } from './explain/parse-http.js'
import { parseRequest } from './explain/parse-request.js'
import { readSignature } from './explain/signature-header.js'
import { toUtf8 } from './explain/text-codes.js'
import { undoBytes } from './explain/undo-bytes.js'
import { undoJson } from './explain/undo-json.js'
import { undoText } from './explain/undo-text.js'
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
    'a pasted request': (text) => parseRequest(text),
    'pasted headers': (text) => parseHeaders(text),
    'a signature header': (text) => readSignature([['X-Service-Signature', text]], (name) => name),
    'a changed body': (text) => {
      for (const undo of [undoJson, ...undoText, ...undoBytes(1_048_576)]) undo(toUtf8(text))
    },
  },
  {
    begins: [
      'Basic ',
      'Bearer ',
      'application/json',
      'a@',
      '/resources/applicants/',
      '/resources/applicants/-;externalUserId=',
      ...["curl -H '", "curl $'", 'curl "', 'A: b\n\n', '{"headers":{"a":"', '{"version":'],
    ],
    parts: ['a-', '-.', '.a', ' ;'],
  },
)
