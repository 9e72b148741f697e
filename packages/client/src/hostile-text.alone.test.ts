/** Text from the service takes at most linear time. @module */
import { testGrowth } from '../../../tools/scripts/growth.js'
import { isAmount, parseAmount } from './amounts.js'
import { hideTexts } from './internal/check.js'
import { createUnknownHandler, parseJson } from './internal/request.js'
import { flattenLookup, plainAmount, repeatsSecret } from './legacy/client.js'
import { checkTransport } from './transport-options.js'

const secret = 'k3y-of-the-integration'
const handleUnknown = createUnknownHandler({ strict: false, onWarning: () => {} }, [secret])
const amount = { formatted: '1', value: '1' }
const getLookup = (text: string) => {
  const fees = [text, '1.5', '0.0'].map((formatted) => ({ type: 'ServiceFee', formatted, value: '1' }))
  const payments = [{ fees, tokenAmount: amount, tokenAmountNet: amount, priceFeeds: [] }]
  return { chainId: 1, txHash: '0x', payments } as never
}

testGrowth(
  {
    'an amount': (text) => isAmount(text) || parseAmount(text),
    'the amount of an invoice': plainAmount,
    'the fees of a look-up': (text) => flattenLookup(getLookup(text)),
    'a body': (text) => parseJson(Buffer.from(text)),
    'a text without secrets': (text) => hideTexts(text, [secret]),
    'an unknown field': (text) => handleUnknown([{ kind: 'field', path: [text], value: null }], []),
    'an unknown value': (text) => handleUnknown([{ kind: 'value', path: ['a'], value: text }], []),
    'a body that repeats the secret': (text) => repeatsSecret({ text }, secret),
    'the address of the service': (text) => checkTransport({ baseUrl: `https://a.example/${text}` }),
  },
  { begins: ['1.', '1', 'Mon, '], parts: [secret.slice(0, -1), 'GMT ', ' GMT', '1.0'] },
)
