/** Text in answers and requests takes at most linear time. @module */
import { testGrowth } from '../../../tools/scripts/growth.js'
import {
  createSchemaReader,
  paymentSchema,
  processorUpdateSchema,
  shareRequestSchema,
  snapshotSchema,
  verifyRequestSchema,
} from './exports/index.js'
import { parseForeignJson, parseHttpDate, parseRetryAfter } from './exports/internal-io.js'
import * as primitives from './primitives.js'

const readPayment = createSchemaReader(paymentSchema)
const readSnapshot = createSchemaReader(snapshotSchema)

testGrowth(
  {
    ...Object.fromEntries(
      Object.entries(primitives).flatMap(([name, schema]) =>
        'safeParse' in schema ? [[`${name} alone`, (text: string) => schema.safeParse(text)]] : [],
      ),
    ),
    'a share request': (text) => shareRequestSchema.safeParse({ email: text, kycShareToken: text }),
    'a verify request': (text) => verifyRequestSchema.safeParse({ invoiceAmount: text, invoiceCurrency: text }),
    'an update': (text) => processorUpdateSchema.safeParse({ id: text, txHash: text, integrationAddress: text }),
    'a payment': (text) => readPayment.safeParse({ [text]: text, chainId: text, txHash: text }),
    'a snapshot': (text) => readSnapshot.safeParse({ [text]: text, invoice: { amount: text, currency: text } }),
    'Retry-After': (text) => parseRetryAfter(text, 0),
    'an HTTP date': (text) => parseHttpDate(text, 0),
    'foreign JSON': (text) => parseForeignJson(Buffer.from(JSON.stringify({ [text]: text }))),
  },
  { begins: ['0x', '1.', '1', 'a@'], parts: ['a@b.', '.a', '\u3002', '1.0'] },
)
