/** Text from strangers takes time that grows with its length at most. @module */
import { testGrowth } from '../../../tools/scripts/growth.js'
import { parseFreshHeader } from './internal/fresh-signature-header.js'
import { assertRawBody, parseContentLength } from './read-body.js'
import { decodeText, parseSnapshot } from './snapshot.js'

const fields = `"integrationAddress":"0x${'aa'.repeat(20)}","chainId":"1","txHash":"0x${'ab'.repeat(32)}","version":1`

testGrowth(
  {
    'the signature header': (text) => parseFreshHeader(text, 0, 300),
    'the length of a body': parseContentLength,
    'a body as text': assertRawBody,
    'the text of a body': (text) => decodeText(Buffer.from(text)),
    'a snapshot': parseSnapshot,
    'the fields of a snapshot': (text) =>
      parseSnapshot(`{${fields},"state":"a","recipient":null,"invoice":{"amount":${JSON.stringify(text)}}}`),
  },
  { begins: ['t=1,', 'v1=', '1.'], parts: ['v1=a,', 't=1,', 'x=\t'] },
)
