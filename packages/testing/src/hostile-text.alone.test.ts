/** Text from the program under test takes at most linear time. @module */
import { testGrowth } from '../../../tools/scripts/growth.js'
import { parseHeaders, parseRequest } from './explain/parse-request.js'
import { parseSignature } from './explain/signature-header.js'
import { toUtf8, undoBytes, undoText } from './explain/undo.js'
import { undoJson } from './explain/undo-json.js'
import { findRoute } from './identity-provider/provider.js'

testGrowth(
  {
    'a route of the provider': (text) => findRoute('GET', text),
    'a pasted request': (text) => parseRequest(text),
    'pasted headers': (text) => parseHeaders(text),
    'a signature header': (text) => parseSignature([['X-Service-Signature', text]], (name) => name),
    'a changed body': (text) => [...undoJson(text), ...undoText(text), ...undoBytes(toUtf8(text))],
  },
  {
    begins: [
      '/resources/applicants/',
      '/resources/applicants/-;externalUserId=',
      ...["curl -H '", "curl $'", 'curl "', 'A: b\n\n', '{"headers":{"a":"', '{"version":'],
    ],
    parts: ['a-', '-.', '.a', ' ;'],
  },
)
