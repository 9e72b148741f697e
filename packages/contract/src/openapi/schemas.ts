/** Makes named, described JSON schemas from the zod schemas. Source: docs/interface.md 2, 4, 6, 7. @module */
import * as z from 'zod/mini'
import {
  errorBodySchema,
  shareRejectedBodySchema,
  unauthorizedBody,
  verificationUnavailableBody,
} from '../error-bodies.js'
import { healthSchema } from '../health.js'
import { shareResponseSchema } from '../identity.js'
import {
  currencyCodePattern,
  legacyErrorBodySchema,
  lookupSchema,
  verifyRequestLimits,
  verifyRequestSchema,
  verifyResponseSchema,
} from '../legacy.js'
import { pageSchema, paymentSchema } from '../payment.js'
import { object } from '../primitives.js'
import {
  processorUpdateSchema,
  processorUpdatesSchema,
  updateResultSchema,
  updateResultsSchema,
} from '../processor-updates.js'
import { shareRequestSchema } from '../share-request.js'
import { snapshotSchema } from '../snapshot.js'
import { type JsonSchema, mapValues, schemaRef } from './parts.js'

/** Texts by the path of a field; the empty path is the object itself. */
type Texts = Readonly<Record<string, string>>

const merchantFields = {
  'recipient.title': 'Name of the merchant.',
  'recipient.subtitle': 'Second line below the merchant name.',
  'invoice.amount': 'Amount in `currency`, as a decimal string.',
  'invoice.currency': 'ISO 4217 code of the invoice.',
  'invoice.settlementAmount': 'Amount settled on chain, as a decimal string.',
  'invoice.settlementCurrency': 'ISO 4217 code of the settlement.',
}

const snapshot = {
  integrationAddress: 'Address of the integration that the payment names, lowercased.',
  chainId: 'Destination chain id, as a decimal string.',
  txHash: 'Destination transaction hash, lowercased.',
  version: 'Version of the state. It increases by one with every change and never decreases.',
  state: 'State of the payment; null while none is stored. A newer service may add states.',
  recipient: 'The merchant; null while no name is known.',
  invoice: 'The invoice; null unless all four of its fields are known.',
  ...merchantFields,
}

const tokenAmount = (name: string, meaning: string) => ({
  [`payments.${name}`]: meaning,
  [`payments.${name}.formatted`]: 'Amount in token units, as a decimal string.',
  [`payments.${name}.value`]: 'Amount in base units of the token, as an integer string.',
})

const lookup = {
  chainId: 'Chain of the transaction.',
  txHash: 'Transaction hash, lowercased.',
  payments: 'Every payment of the transaction.',
  'payments.memo': 'Order id, invoice number or other reference, as the payer wrote it.',
  'payments.receiver': 'Receiving address.',
  'payments.tokenSymbol': 'Symbol of the received token.',
  ...tokenAmount('tokenAmount', 'Gross amount, fees included.'),
  ...tokenAmount('tokenAmountNet', 'Net amount, which the receiver gets: the gross amount minus fees.'),
  ...tokenAmount('totalFees', 'Sum of all fees.'),
  ...tokenAmount('fees', 'Each fee; may be empty.'),
  'payments.fees.type':
    '`ServiceFee` is charged by the service, `ExtraFee` by a third party. A newer service may add types.',
  'payments.invoiceAmount': 'Amount charged to the payer; empty when it is not known for certain.',
  'payments.invoiceCurrency': 'Currency code of the invoice; empty when it is not known for certain.',
  'payments.conversion':
    '`<provider>:<BASE><QUOTE>`: BASE is the invoice currency, QUOTE the currency of the token. Empty when no price feed was used, or when the invoice is not known for certain.',
  'payments.priceFeeds': 'Price feeds in the order of use, from invoice currency to token; may be empty.',
  'payments.priceFeeds.name':
    'Currency pair of the feed: base and quote without a separator. Empty when the feed is not trusted.',
  'payments.priceFeeds.contract': 'Address of the feed contract.',
  'payments.priceFeeds.rate':
    'Rate in the quote currency, as a decimal string. For a feed that is not listed, eight decimals are assumed.',
  'payments.final': 'Whether the transaction has enough confirmations to be final.',
}

const updateResult = {
  id: 'Id of the update.',
  outcome:
    '`applied`: the update made a new version. `unchanged`: it changed nothing. `rejected`: a rule forbids it. `waiting`: it is stored until the payment is indexed.',
  version: 'Version of the payment after the update; null while it waits.',
  reason: 'Why the update was rejected or waits; null otherwise.',
}

const strictVerifyRequestSchema = z.extend(verifyRequestSchema, {
  chainId: z.int().check(z.minimum(1), z.maximum(999_999_999_999_999)),
  txHash: z.string().check(z.regex(/^0x[0-9a-fA-F]{64}$/)),
  invoiceAmount: z.union([
    z.number().check(z.minimum(0)),
    z.string().check(z.maxLength(verifyRequestLimits.invoiceAmount), z.regex(/^(0|[1-9][0-9]*)(\.[0-9]+)?$/)),
  ]),
  invoiceCurrency: z.string().check(z.regex(currencyCodePattern)),
  address: z.string().check(z.minLength(1), z.maxLength(verifyRequestLimits.address)),
})

const withTexts = (schema: z.core.$ZodType, texts: Texts) => ({ schema, texts })

/** The schemas by name. Answers may have unknown fields, because a newer service may add some; an update may not. */
const components = {
  Payment: withTexts(paymentSchema, {
    '': 'A payment that names the integration of the caller. Identifiers are lowercased, amounts are strings.',
    ...snapshot,
    sender: 'Address of the payer, lowercased.',
    receiver: 'Address of the payee, lowercased.',
    memo: 'Memo of the payment, verbatim.',
    blockTimestamp: 'Time of the block: ISO 8601, UTC.',
    source: 'The transaction on the source chain.',
    'source.chainId': 'Source chain id, as a decimal string.',
    'source.txHash': 'Source transaction hash, lowercased.',
    tokenIn: 'The token that the payer paid with.',
    'tokenIn.address': 'Token address, lowercased.',
    'tokenIn.symbol': 'Token symbol, verbatim; null when the token has none.',
    'tokenIn.amount': 'Amount in token units, as a decimal string.',
    tokenOut: 'The token that the receiver got.',
    'tokenOut.address': 'Token address, lowercased.',
    'tokenOut.symbol': 'Token symbol, verbatim; null when the token has none.',
    'tokenOut.amountGross': 'Amount before fees in token units, as a decimal string.',
    'tokenOut.amountNet': 'Amount after fees in token units, as a decimal string.',
  }),
  Page: withTexts(pageSchema, {
    '': 'A page of payments, newest first.',
    payments: 'Ordered by block time, chain id and transaction hash, descending.',
    nextCursor: 'Opaque cursor of the next page; null on the last page.',
  }),
  Snapshot: withTexts(snapshotSchema, {
    '': 'The complete state and merchant data of a payment, not a patch. `chainId`, `txHash` and `version` identify a snapshot.',
    ...snapshot,
  }),
  Lookup: withTexts(lookupSchema, { '': 'All payments of one transaction.', ...lookup }),
  VerifyResponse: withTexts(verifyResponseSchema, {
    '': 'All payments of one transaction, each compared with an invoice.',
    ...lookup,
    'payments.verified': 'Whether the payment matches.',
    'payments.verificationErrors': 'The reasons why it does not match; empty when it matches.',
  }),
  VerifyRequest: withTexts(strictVerifyRequestSchema, {
    '': 'The invoice against which the payments of a transaction are verified.',
    chainId: 'Chain of the transaction, written in decimal digits only: 31337.0 and 3.1337e4 are rejected.',
    txHash: 'Transaction hash: 0x and 64 hex digits, in any case.',
    invoiceAmount:
      'Decimal amount. Send a string such as "12.50". A number is rejected when binary floating point would change its value, or when it has more than 100 characters without an exponent.',
    invoiceCurrency: 'Currency code in uppercase.',
    address: 'Receiving address or account handle, in any case.',
  }),
  ProcessorUpdate: withTexts(processorUpdateSchema, {
    '': 'A change of a payment. If `state`, `recipient` or `invoice` is absent, its stored value stays; null clears it.',
    ...merchantFields,
    id: 'Id of the update: 1 to 128 printable ASCII characters. Updates with the same id are applied once.',
    chainId: 'Destination chain id, as a decimal string.',
    txHash: 'Destination transaction hash, in any case.',
    integrationAddress: 'Required only if payments of the transaction name different integrations.',
    state: 'New state of the payment.',
    recipient: 'The merchant.',
    invoice: 'The invoice, with all four fields.',
  }),
  ProcessorUpdates: withTexts(processorUpdatesSchema, {
    '': 'Several updates, applied in their order.',
    updates: 'At least one update, at most 100.',
  }),
  UpdateResult: withTexts(updateResultSchema, { '': 'The result of an update.', ...updateResult }),
  UpdateResults: withTexts(updateResultsSchema, {
    '': 'The results of several updates.',
    results: 'The result of each update, in their order.',
    'results.id': 'Id of the update.',
    'results.error': 'The id was already used with different content. Nothing of the update was applied.',
  }),
  UpdateRejected: withTexts(z.extend(updateResultSchema, { error: z.string() }), {
    '': 'A rule forbids the update. Repeated, it gets the same answer.',
    ...updateResult,
    error: 'Why the update was rejected.',
  }),
  ShareRequest: withTexts(shareRequestSchema, {
    '': 'A request to share the verification of one user.',
    email:
      'E-mail address of the user. After normalization it has at most 254 bytes of UTF-8, and at most 64 before the `@`. Case, Unicode forms and international domains are normalized, so every spelling of an address is the same user. Quoted local parts and domains that are IP addresses are rejected.',
    kycShareToken: 'Share token of the provider, verbatim. It is single-use: mint one for each submission.',
  }),
  ShareResponse: withTexts(shareResponseSchema, {
    '': 'The status of the verification that the caller shared.',
    reviewStatus:
      '`not_started`: another request is redeeming a token, and its result is not known yet. `init`: the provider waits for documents. `pending`, `prechecked`, `onHold`: the provider is reviewing. `completed`: there is a verdict.',
    reviewAnswer:
      'The verdict; valid when `reviewStatus` is `completed`. Only `completed` with `GREEN` is an approval.',
    rejectType:
      'On `RED`, whether resubmission can help (`RETRY`) or not (`FINAL`); null when the provider gave no type.',
    rejectLabels: 'Rejection reasons of the provider, verbatim; may be empty.',
    reused: 'True: this request redeemed the token. False: it redeemed nothing and did not use the token.',
  }),
  ShareRejectedBody: withTexts(shareRejectedBodySchema, {
    '': 'The provider rejected the redemption.',
    error: 'The error, for a person to read.',
    message:
      'Description by the provider. If a verification that the caller shared before was rejected, its verdict follows: `RED`, the type and the labels.',
  }),
  VerificationUnavailableBody: withTexts(object('read', { error: z.literal(verificationUnavailableBody.error) }), {
    '': 'The user has a verification that the caller did not share.',
    error: 'The same text for every status of that verification.',
  }),
  Health: withTexts(healthSchema(), {
    '': 'The health of the service.',
    status:
      '`ok`: everything works. `degraded`: requests are answered, but a chain cannot be followed, or a node failed a proof in the last ten minutes. `down`: the database does not answer, or the background loops have stopped.',
    database: 'Whether the database answers.',
    recording: '`own`: payments of the integrations of this service alone are stored. Absent: all are.',
    chains: 'The chains that are followed.',
    'chains.chainId': 'Chain id.',
    'chains.leading': 'Whether this process indexes the chain; false while another one does.',
    'chains.head': 'Newest block number seen; null before the first answer.',
    'chains.headAt': 'Time of that block by its header, in unix milliseconds; null before the first answer.',
    'chains.indexed': 'Newest block whose payments are stored; null before the first one.',
    'chains.lag': 'Blocks between `head` and `indexed`; null while unknown.',
    'chains.proof':
      'Proof that no payment of the newest blocks is missing. `root`: all receipts were read and their root was recomputed. `bloom`: the log filter of every header was tested, and the receipts of each block that may hold a payment were read. `none`: the node is trusted. Null before the first commit of the process.',
    'chains.reorgs': 'Reorgs applied since the start of the process.',
    'chains.nodes': 'The nodes that the chain is read from, in the order of the configuration.',
    'chains.nodes.name': 'Host of the node, and its position in the configuration.',
    'chains.nodes.score': 'From 0 (not used while another node works) to 1.',
    'chains.nodes.inUse': 'Whether the next read goes to it.',
    'chains.nodes.head': 'Newest block number that it reported; null before the first answer.',
    'chains.nodes.latencyMs': 'Moving average of its response time, in milliseconds; null before the first answer.',
    'chains.nodes.failures': 'Requests without an answer since the start of the process.',
    'chains.nodes.contradictions': 'Answers that contradict themselves or the chain, since the start of the process.',
    'chains.nodes.failedProofs':
      'Answers whose receipts or logs do not match the header of the block, since the start of the process.',
    'chains.nodes.calls': 'JSON-RPC calls sent to it since the start of the process, repeated ones included.',
    'chains.nodes.receivedBytes':
      'Bytes of its answers, unpacked, since the start of the process; 0 when they are not counted.',
    'chains.nodes.blocks': 'Blocks read from it since the start of the process.',
    'chains.nodes.maxRange': 'Most blocks in one request for logs at present.',
    'chains.nodes.lastError': 'Its last error; null if there was none.',
    'chains.error': 'The error of the last round; null if that round succeeded.',
    'chains.lastError': 'The last error of the process, even if it is resolved; null if there was none.',
    'chains.lastError.message': 'The error, for a person to read.',
    'chains.lastError.at': 'Time of the error, in unix milliseconds.',
  }),
  Liveness: withTexts(object('read', { status: z.literal('ok') }), {
    '': 'The process answers.',
    status: 'Always `ok`.',
  }),
  ErrorBody: withTexts(errorBodySchema, {
    '': 'An error.',
    error: 'The error, for a person to read.',
    maxLimit: 'Largest page size; present when `limit` is invalid.',
    message: 'Details of the error; may be absent.',
  }),
  LegacyErrorBody: withTexts(legacyErrorBodySchema, {
    '': 'The flaws of a legacy request.',
    error: 'The error, for a person to read.',
    details: 'Every flaw that was found.',
    'details.code': 'Kind of the flaw.',
    'details.message': 'The flaw, for a person to read.',
    'details.path': 'Names of the parameters or fields concerned, outermost first; empty for the request as a whole.',
  }),
  UnauthorizedBody: withTexts(object('read', { error: z.literal(unauthorizedBody.error) }), {
    '': 'Authentication failed. The body does not reveal the cause.',
    error: 'The same text for every cause.',
  }),
}

/** The texts of every schema of the document. */
export const descriptions = mapValues(components, ({ texts }) => texts)

/** The schemas of the document. Every object and every field has a description. */
export function buildComponentSchemas(): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [id, { schema }] of Object.entries(components)) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, { uri: (id) => schemaRef(id).$ref })
  return mapValues(schemas, (schema, id) => addTexts(tidy(schema), descriptions[id as keyof typeof components]))
}

/** Removes keywords without effect, and shortens the date pattern of zod. */
function tidy(schema: object): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (keyword, value) => {
    if (hasNoEffect(keyword, value)) return undefined
    // Zod's pattern repeats the format `date-time`. It adds only that the zone is UTC.
    return value?.format === 'date-time' ? { ...value, pattern: 'Z$' } : value
  })
}

/** Whether a keyword only names the schema, or allows everything: any additional fields, or all exact JSON numbers. */
function hasNoEffect(keyword: string, value: unknown): boolean {
  if (keyword === '$schema' || keyword === '$id') return true
  if (keyword === 'additionalProperties') return typeof value === 'object' && Object.keys(value ?? {}).length === 0
  return Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER && (keyword === 'minimum' || keyword === 'maximum')
}

type InnerSchemas = { properties?: Readonly<Record<string, JsonSchema>>; items?: JsonSchema; anyOf?: JsonSchema[] }

/**
 * Adds the descriptions of a schema and of its fields. A schema behind `anyOf` or `items` has the same path as its
 * field. Only the outermost schema of a path is described.
 */
function addTexts(schema: JsonSchema, texts: Texts, path = '', isOutermost = true): JsonSchema {
  const { properties, items, anyOf } = schema as InnerSchemas
  const addInner = (inner: JsonSchema) => addTexts(inner, texts, path, false)
  const addToField = (field: JsonSchema, name: string) => addTexts(field, texts, path ? `${path}.${name}` : name)
  return {
    ...(isOutermost && texts[path] !== undefined ? { description: texts[path] } : {}),
    ...schema,
    ...(properties === undefined ? {} : { properties: mapValues(properties, addToField) }),
    ...(items === undefined ? {} : { items: addInner(items) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(addInner) }),
  }
}
