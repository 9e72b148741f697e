/**
 * Text from requests, receivers, providers and the environment takes time that grows with its length at most.
 * @module
 */
import { testGrowth } from '../../../tools/scripts/growth.js'
import { parseHandle } from './accounts/handle.js'
import { parseLinkConfig } from './accounts/link-config.js'
import { parseBasic } from './auth/basic.js'
import { createCursorCodec } from './cursor/cursor.js'
import { normaliseEmail } from './emails/normalise-email.js'
import { parseShareRequest } from './identity/parse-share-request.js'
import { checkNamespace } from './identity/redemption.js'
import { readNotificationUrl } from './integrations/notification-url.js'
import { lowercaseAddress } from './internal/address.js'
import { findDuplicateKey } from './internal/duplicate-key.js'
import { isPlainDecimal, readNumberToken, shortestDecimal, writeOut } from './legacy/decimal.js'
import { feesOf } from './legacy/fees.js'
import { parseTransactionKey } from './legacy/parameters.js'
import { parseVerifyRequest } from './legacy/verify-request.js'
import { parseLimit } from './payments/page-limit.js'
import { parseAddress, parseTxHash } from './payments/parameters.js'
import { parseMasterKey } from './secrets/master-key.js'
import { parseUpdate } from './updates/receive-update.js'

const cursors = createCursorCodec(parseMasterKey('0123456789abcdef'.repeat(4)))
const pricing = { listedToken: null, feeds: [], calledAmount: null, serviceFee: null }
const tokenOut = { address: '0x', symbol: null, decimals: 0, gross: 1n, net: 1n }
const fields = '{"chainId":1,"txHash":"0x","invoiceAmount":'

testGrowth(
  {
    'a handle': parseHandle,
    'a namespace': checkNamespace,
    'an e-mail address': normaliseEmail,
    'the body of a share request': (text) => parseShareRequest(Buffer.from(text)),
    'the body of a verify request': (text) => parseVerifyRequest(Buffer.from(text)),
    'the body of an update': (text) => parseUpdate(Buffer.from(text)),
    'the settings of an account': (text) => parseLinkConfig(JSON.parse(text)),
    'a key that is given twice': findDuplicateKey,
    'Basic credentials': parseBasic,
    'a cursor': (text) => cursors.decode(text, { integrationAddress: '0x' }),
    'a notification URL': (text) => readNotificationUrl(text, { allowLoopbackHttp: true }),
    'an address': lowercaseAddress,
    'a wallet': parseAddress,
    'a hash': parseTxHash,
    'a limit': parseLimit,
    'the path of a look-up': (text) => parseTransactionKey({ chainId: text, txHash: text }),
    'a plain decimal': isPlainDecimal,
    'the shortest decimal': shortestDecimal,
    'a number written out': writeOut,
    'a number of JSON': readNumberToken,
    'a memo': (text) => feesOf({ memoHex: text, tokenOut, pricing }),
    'the master key': parseMasterKey,
  },
  {
    begins: [
      ...['0x', 'https://a', 'a@', 'Basic ', '1.', '{"', '["'],
      fields,
      ...[`${fields}"`, '{"email":"a@', '{"kycShareToken":"'],
    ],
    parts: ['a@b.c', 'a-', '-.', '.a', '{"a":1,"b":[', '\\"a', 'xn--', '\u3002', '1.0'],
  },
)
