/** Text from requests, receivers, providers and the environment takes time that grows with its length at most. */
import { testGrowth } from '../../../tools/scripts/growth.js'
import { normalizeEmail } from './identity/emails.js'
import { checkNamespace } from './identity/redemption.js'
import { parseShareRequest } from './identity/share.js'
import { parseBasic } from './integrations/authenticate.js'
import { checkNotificationUrl } from './integrations/notification-url.js'
import { parseAddress, parseLimit, parseTxHash } from './internal/parameters.js'
import { findDuplicateKey, lowercaseAddress } from './internal/values.js'
import { parseHandle, parseLinkConfig } from './legacy/accounts.js'
import {
  computeFees,
  expandExponent,
  isPlainDecimal,
  parseNumberToken,
  trimDecimal,
} from './legacy/invoice-and-fees.js'
import { parseTransactionKey, parseVerifyRequest } from './legacy/legacy-requests.js'
import { createCursorCodec } from './payments/cursor.js'
import { parseUpdate } from './payments/receive-updates.js'
import { parseMasterKey } from './secrets/keys.js'

const cursors = createCursorCodec(parseMasterKey('0123456789abcdef'.repeat(4)))
const pricing = { listedToken: null, feeds: [], calledAmount: null, serviceFee: null }
const tokenOut = { address: '0x', symbol: null, decimals: 0, gross: 1n, net: 1n }
const fields = '{"chainId":1,"txHash":"0x","invoiceAmount":'
const share = ['{"email":"a@', '{"kycShareToken":"']

testGrowth(
  {
    'a handle': parseHandle,
    'a namespace': checkNamespace,
    'an e-mail address': normalizeEmail,
    'the body of a share request': (text) => parseShareRequest(Buffer.from(text)),
    'the body of a verify request': (text) => parseVerifyRequest(Buffer.from(text)),
    'the body of an update': (text) => parseUpdate(Buffer.from(text)),
    'the settings of an account': (text) => parseLinkConfig(JSON.parse(text)),
    'a key that is given twice': findDuplicateKey,
    'Basic credentials': parseBasic,
    'a cursor': (text) => cursors.decode(text, { integrationAddress: '0x' }),
    'a notification URL': (text) => checkNotificationUrl(text, { allowLoopbackHttp: true }),
    'an address': lowercaseAddress,
    'a wallet': parseAddress,
    'a hash': parseTxHash,
    'a limit': parseLimit,
    'the path of a look-up': (text) => parseTransactionKey({ chainId: text, txHash: text }),
    'a plain decimal': isPlainDecimal,
    'the shortest decimal': trimDecimal,
    'a number written out': expandExponent,
    'a number of JSON': parseNumberToken,
    'a memo': (text) => computeFees({ memoHex: text, tokenOut, pricing }),
    'the master key': parseMasterKey,
  },
  {
    begins: ['0x', 'https://a', 'a@', 'Basic ', '1.', '{"', '["', fields, `${fields}"`, ...share],
    parts: ['a@b.c', 'a-', '-.', '.a', '{"a":1,"b":[', '\\"a', 'xn--', '\u3002', '1.0'],
  },
)
