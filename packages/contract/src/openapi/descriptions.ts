/** Describes each schema and each field in a sentence. Source: docs/interface.md 2, 4.2, 4.3, 6, 7. @module */

/** Texts by the path of a field; the empty path is the object itself. */
type Texts = Readonly<Record<string, string>>

const merchantFields = {
  'recipient.title': 'Name of the merchant.',
  'recipient.subtitle': 'Second line of the merchant.',
  'invoice.amount': 'Amount in `currency`, as a decimal string.',
  'invoice.currency': 'ISO 4217 code of the invoice.',
  'invoice.settlementAmount': 'Amount settled on chain, as a decimal string.',
  'invoice.settlementCurrency': 'ISO 4217 code of the settlement.',
}

const snapshot = {
  integrationAddress: 'Integration that the payment names, lowercased.',
  chainId: 'Destination chain id, as a decimal string.',
  txHash: 'Destination transaction hash, lowercased.',
  version: 'State version. It grows by one with every change and never falls.',
  state: 'State of the payment; null while none is stored. More states may follow.',
  recipient: 'The merchant; null while no name is known.',
  invoice: 'The invoice; null unless all four of its fields are known.',
  ...merchantFields,
}

const tokenAmount = (name: string, meaning: string) => ({
  [`payments.${name}`]: meaning,
  [`payments.${name}.formatted`]: 'Decimal string in whole tokens.',
  [`payments.${name}.value`]: 'Integer string in base units of the token.',
})

const lookup = {
  chainId: 'Chain of the transaction.',
  txHash: 'Transaction hash, lowercased.',
  payments: 'Every payment of the transaction.',
  'payments.memo': 'Order id, invoice number or other reference, as the payer wrote it.',
  'payments.receiver': 'Receiving address.',
  'payments.tokenSymbol': 'Symbol of the received token.',
  ...tokenAmount('tokenAmount', 'Amount received, fees included.'),
  ...tokenAmount('tokenAmountNet', 'Amount that the receiver gets: the amount received minus fees.'),
  ...tokenAmount('totalFees', 'All fees together.'),
  'payments.fees': 'The single fees; may be empty.',
  'payments.fees.type': '`ServiceFee` is charged by the service, `ExtraFee` by a third party. More types may follow.',
  'payments.fees.formatted': 'Decimal string in whole tokens.',
  'payments.fees.value': 'Integer string in base units of the token.',
  'payments.invoiceAmount': 'Amount charged to the payer; empty when it is not known for certain.',
  'payments.invoiceCurrency': 'Currency code of the invoice; empty when it is not known for certain.',
  'payments.conversion':
    'Empty when no price feed was used or the invoice is not known for certain, else `<provider>:<BASE><QUOTE>`: BASE is the invoice currency, QUOTE the currency of the token.',
  'payments.priceFeeds': 'Price feeds in the order used from invoice currency to token; may be empty.',
  'payments.priceFeeds.name': 'Currency pair of the feed, base and quote joined; empty when the feed is not believed.',
  'payments.priceFeeds.contract': 'Address of the feed contract.',
  'payments.priceFeeds.rate':
    'Decimal string in terms of the quote currency. Eight decimals are assumed for a feed that is on no list.',
  'payments.final': 'Whether enough blocks have passed for the transaction to be final.',
}

const updateResult = {
  id: 'Id of the update.',
  outcome:
    '`applied` made a new version, `unchanged` changed nothing, `refused` broke a rule, `waiting` is kept until the payment is indexed.',
  version: 'Version of the payment after the update; null while it waits.',
  reason: 'Why the update was refused; null otherwise.',
}

/** The texts of every schema of the document. */
export const descriptions = {
  Payment: {
    '': 'A payment that named the integration of the caller. Identifiers are lowercased, amounts are strings.',
    ...snapshot,
    sender: 'Address of the payer, lowercased.',
    receiver: 'Address of the payee, lowercased.',
    memo: 'Memo of the payment, verbatim.',
    blockTimestamp: 'Time of the block: ISO 8601, UTC.',
    source: 'The transaction on the source chain.',
    'source.chainId': 'Source chain id, as a decimal string.',
    'source.txHash': 'Source transaction hash, lowercased.',
    tokenIn: 'The token that the payer gave.',
    'tokenIn.address': 'Token address, lowercased.',
    'tokenIn.symbol': 'Token symbol, verbatim; null when the token names none.',
    'tokenIn.amount': 'Amount in whole tokens, as a decimal string.',
    tokenOut: 'The token that arrived.',
    'tokenOut.address': 'Token address, lowercased.',
    'tokenOut.symbol': 'Token symbol, verbatim; null when the token names none.',
    'tokenOut.amountGross': 'Amount before fees in whole tokens, as a decimal string.',
    'tokenOut.amountNet': 'Amount after fees in whole tokens, as a decimal string.',
  },
  Page: {
    '': 'A page of payments, newest first.',
    payments: 'Ordered by block time, chain id and transaction hash, descending.',
    nextCursor: 'Opaque token of the next page; null on the last one.',
  },
  Snapshot: {
    '': 'The state and the merchant data of a payment in full, not a patch. `chainId`, `txHash` and `version` identify it.',
    ...snapshot,
  },
  Lookup: { '': 'All payments of one transaction.', ...lookup },
  Verify: {
    '': 'All payments of one transaction, each judged against an invoice.',
    ...lookup,
    'payments.verified': 'Whether the payment matches.',
    'payments.verificationErrors': 'Why it does not match; empty when it does.',
  },
  VerifyRequest: {
    '': 'What the payments of a transaction are verified against.',
    chainId: 'Chain of the transaction, in plain decimal digits alone: 31337.0 and 3.1337e4 are refused.',
    txHash: 'Transaction hash: 0x and 64 hex digits, in any case.',
    invoiceAmount:
      'Decimal amount. Send a string such as "12.50"; a number is refused when binary floating point would change its value, or when it takes more than 100 characters without an exponent.',
    invoiceCurrency: 'Currency code in uppercase.',
    address: 'Receiving address or account handle, in any case.',
  },
  ProcessorUpdate: {
    '': 'A change of a payment. Of `state`, `recipient` and `invoice`, an absent one leaves what is stored and null clears it.',
    ...merchantFields,
    id: 'Id of the update: 1 to 128 printable ASCII characters. The same id is applied once.',
    chainId: 'Destination chain id, as a decimal string.',
    txHash: 'Destination transaction hash, in any case.',
    integrationAddress: 'Needed only where payments of one transaction name different integrations.',
    state: 'New state of the payment.',
    recipient: 'The merchant.',
    invoice: 'The invoice, with all four fields.',
  },
  UpdateResult: { '': 'What became of an update.', ...updateResult },
  UpdateRefused: {
    '': 'A rule forbids the update. The refusal is recorded: the same update gets the same answer.',
    ...updateResult,
    error: 'Why the update was refused.',
  },
  ShareRequest: {
    '': 'The verification of one user, to be shared.',
    email:
      'E-mail address of the user, with at most 254 bytes of UTF-8 when it is normalised, 64 of them before the `@`. Case, Unicode forms and international domains are normalised, so that every spelling of one address is the same user; quoted names and domains that are IP addresses are refused.',
    kycShareToken: 'Share token of the provider, verbatim. It is single-use: mint one for each submission.',
  },
  ShareResponse: {
    '': 'Where the verification that the caller shared stands.',
    reviewStatus:
      '`not_started`: another request is redeeming, and nothing is known yet. `init`: documents are awaited. `pending`, `prechecked`, `onHold`: it is being reviewed. `completed`: there is a verdict.',
    reviewAnswer:
      'The verdict; meaningful once `reviewStatus` is `completed`. Only `completed` with `GREEN` is an approval.',
    rejectType:
      'On `RED`, whether resubmission can help (`RETRY`) or not (`FINAL`); null when the provider did not say.',
    rejectLabels: 'Reject reasons of the provider, verbatim; may be empty.',
    reused: 'True if this request redeemed the token; false if it redeemed nothing and did not consume the token.',
  },
  ShareRejectedBody: {
    '': 'The provider rejected the redemption.',
    error: 'What is wrong, for a person to read.',
    message:
      'Description of the provider, then the verdict on what the caller shared before, if that was rejected: `RED`, the type and the labels.',
  },
  KycUnavailableBody: {
    '': 'The user has a verification that the caller did not share.',
    error: 'The same whatever the status of that verification.',
  },
  Health: {
    '': 'How the service is doing.',
    status:
      '`ok`: everything works. `degraded`: requests are answered, and a chain cannot be followed or an endpoint failed a proof in the last ten minutes. `down`: the database does not answer, or the loops have ended.',
    database: 'Whether the database answers.',
    chains: 'The chains that are followed.',
    'chains.chainId': 'Chain id.',
    'chains.leading': 'Whether this process indexes the chain; false while another one does.',
    'chains.head': 'Newest height seen; null before the first answer.',
    'chains.headAt': 'Time of that block by its header, in unix milliseconds; null before the first answer.',
    'chains.indexed': 'Highest height whose payments are stored; null before the first.',
    'chains.lag': 'Blocks between `head` and `indexed`; null while unknown.',
    'chains.proof':
      'How it is known that no payment of the newest blocks is missing. `root`: all receipts were read and their root recomputed. `bloom`: the log filters of all headers were tested, and receipts read where they may hold a payment. `none`: the word of the node. Null before the first commit of the process.',
    'chains.reorganisations': 'Reorganisations applied since the start of the process.',
    'chains.endpoints': 'The nodes that the chain is read from, in the order of the configuration.',
    'chains.endpoints.name': 'Host and position.',
    'chains.endpoints.score': '0 (not used while another one works) to 1.',
    'chains.endpoints.inUse': 'Whether the next read goes to it.',
    'chains.endpoints.head': 'Newest height it told; null before the first answer.',
    'chains.endpoints.latencyMs': 'Moving average of its answers, in milliseconds; null before the first.',
    'chains.endpoints.failures': 'Requests without an answer since the start of the process.',
    'chains.endpoints.contradictions': 'Answers that contradict themselves or the chain since then.',
    'chains.endpoints.failedProofs':
      'Answers whose receipts or logs do not lead to the header of the block since then.',
    'chains.endpoints.maxRange': 'Most blocks that one request for logs spans now.',
    'chains.endpoints.lastError': 'Its newest error; null without one.',
    'chains.error': 'The last error; null when the last round went well.',
    'chains.lastError': 'The newest error of the process, also when it is over; null without one.',
    'chains.lastError.message': 'What went wrong.',
    'chains.lastError.at': 'When, in unix milliseconds.',
  },
  Liveness: { '': 'The process answers.', status: 'Always `ok`.' },
  ErrorBody: {
    '': 'An error.',
    error: 'What is wrong, for a person to read.',
    maxLimit: 'Largest page size; there when `limit` is wrong.',
    message: 'More about the error, where there is more.',
  },
  LegacyErrorBody: {
    '': 'What is wrong with a legacy request, and where.',
    error: 'What is wrong, for a person to read.',
    details: 'Every flaw that was found.',
    'details.code': 'Kind of the flaw.',
    'details.message': 'The flaw, for a person to read.',
    'details.path': 'Names of the parameters or fields concerned, outermost first; empty for the request as a whole.',
  },
  UnauthorizedBody: { '': 'Authentication failed; the cause is not told.', error: 'The same for every cause.' },
} as const satisfies Readonly<Record<string, Texts>>
