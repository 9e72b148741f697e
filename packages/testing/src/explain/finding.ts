/** The faults that an explanation can name, with cause and cure of each. Source: docs/explain.md. @module */

/** Each adapter reads the raw bytes itself, and must come before any parser. */
export const adapterLines = {
  express: "app.all('/webhook', createExpressHandler({ receive })) // above app.use(express.json())",
  fastify: "app.register(fastifyReceiver, { url: '/webhook', receive })",
  hono: "app.all('/webhook', createHonoHandler({ receive })) // above middleware that reads bodies",
  'next-app': 'export const POST = createNextRoute({ receive }) // app/webhook/route.ts, without request.json() before',
  'next-pages':
    'export default createNextApi({ receive }) // pages/api/webhook.ts, with export const config = { api: { bodyParser: false } }',
  nest: "app.use('/webhook', createNestHandler({ receive })) // in a controller: NestFactory.create(AppModule, { rawBody: true })",
  koa: "app.use((ctx, next) => (ctx.path === '/webhook' ? deliveries(ctx) : next())) // before app.use(bodyParser())",
  worker: 'export default { fetch: createWorkerHandler((env) => ({ receive })) } // without request.json() before',
  lambda: 'export const handler = createLambdaHandler({ receive }) // without httpJsonBodyParser',
  node: "createServer(createNodeHandler({ receive })).listen(process.env['PORT']) // or verify({ body: await readBody(request), headers })",
} as const satisfies Readonly<Record<string, string>>

/**
 * A framework with an adapter.
 * @useDeclaredType
 */
export type DoctorFramework = keyof typeof adapterLines

const names = {
  express: 'Express',
  fastify: 'Fastify',
  hono: 'Hono',
  'next-app': 'Next app',
  'next-pages': 'Next pages',
  nest: 'Nest',
  koa: 'Koa',
  worker: 'Worker',
  lambda: 'Lambda',
  node: 'Node',
} as const satisfies Record<DoctorFramework, string>

/** A framework, by its name in findings. */
type ExplainFramework = (typeof names)[DoctorFramework]

/** One line of code for one framework. */
interface FrameworkLine {
  readonly framework: ExplainFramework
  readonly line: string
}

interface Description {
  /** The cause, in a sentence. */
  readonly cause: string
  /** The line or setting to change. */
  readonly change: string
  /** Whether the cure is to pass the raw bytes, which each framework does in its own way. */
  readonly isRawBody?: true
}

/** Every fault. The order is that of findings of equal proof: the most specific first. */
export const descriptions = {
  signature_missing: {
    cause: 'The request has no X-Service-Signature header.',
    change: 'Let proxies, gateways and log filters pass X-Service-Signature on, and pass the headers of the request.',
  },
  signature_other_name: {
    cause: 'The signature arrived under another header name.',
    change: 'Look the header up as X-Service-Signature, in any case, and let the proxy keep its name.',
  },
  signature_repeated: {
    cause: 'X-Service-Signature arrived more than once, and the joined header is not a valid one.',
    change: 'Let one component add the header: a proxy or a replay tool has added it to the one that was there.',
  },
  time_in_milliseconds: {
    cause: 'The time t has 13 digits: it is in milliseconds, and the contract has seconds.',
    change: 'In the signer: const t = Math.floor(Date.now() / 1000). The service itself sends seconds.',
  },
  signature_upper_case: {
    cause: 'The signature is in upper-case hex; the contract has 64 lowercase digits.',
    change: "In the signer or the proxy: keep the header's value unchanged; in Node: hmac.digest('hex').",
  },
  signature_mangled: {
    cause: 'Something rewrote the value of X-Service-Signature, with quotes, blanks or another encoding.',
    change: 'Pass the value on unchanged: no JSON.stringify, no encodeURIComponent, no other separator than the comma.',
  },
  signature_truncated: {
    cause: 'The v1 field is shorter than 64 hex digits: the header was cut.',
    change: 'Raise the header limit of the proxy, or the length of the log or column that the header was copied from.',
  },
  signature_malformed: {
    cause: 'X-Service-Signature is not t=<unix seconds>,v1=<64 lowercase hex digits>.',
    change: 'Use the header exactly as it arrived. The service did not send this one.',
  },
  scheme_unknown: {
    cause: 'X-Service-Signature has no v1 field, only schemes that are not known here.',
    change: 'Update @payment-integration/webhook: a newer service may sign with a newer scheme.',
  },
  secret_empty: {
    cause: 'A signing secret is empty or blank, so its variable is probably not set.',
    change: 'Set the variable in the environment in which the receiver runs, and restart the receiver.',
  },
  secrets_swapped: {
    cause: 'The two secrets are swapped: the secret given as API secret signed this delivery.',
    change:
      'Exchange the values: secrets of createVerifier is the webhook secret, apiSecret of createClient the other.',
  },
  secret_is_api_secret: {
    cause: 'The API secret stands where the webhook signing secret belongs.',
    change: 'Set WEBHOOK_SIGNING_SECRET to the webhook secret, which was issued beside the API secret.',
  },
  secret_previous: {
    cause: 'A previous secret signed this delivery: a rotation is not complete.',
    change: 'Give the receiver both during the rotation: createVerifier({ secrets: [newSecret, oldSecret] }).',
  },
  secret_whitespace: {
    cause: 'The signing secret has white space around it, or a line end.',
    change: 'Remove it from the variable or file; when reading a file: readFileSync(path, "utf8").trim().',
  },
  secret_quoted: {
    cause: 'The signing secret has quotes around it.',
    change: 'Remove the quotes: docker --env-file and many consoles keep those of an environment file.',
  },
  secret_assignment: {
    cause: 'The signing secret begins with the name of a variable: a whole line was pasted.',
    change: 'Keep only the text after the equals sign.',
  },
  secret_list: {
    cause: 'Several secrets stand in one text, and one of them signed this delivery.',
    change: 'Split them: createVerifier({ secrets: process.env.WEBHOOK_SIGNING_SECRET.split(",") }).',
  },
  secret_encoded: {
    cause: 'The signing secret is stored in another encoding than the one in which it was issued.',
    change: 'Store the secret as issued, or decode it once before createVerifier.',
  },
  secret_prefix: {
    cause: 'The prefix of the signing secret is missing; it is part of the key.',
    change: 'Store the secret as issued, with its prefix pi_whsec_.',
  },
  body_parsed: {
    cause: 'The body is a parsed object and no longer the bytes that were signed.',
    change: 'Pass the raw bytes of the request, read before any JSON parser.',
    isRawBody: true,
  },
  body_missing: {
    cause: 'The body is empty: something read the stream first, or it was not copied with the headers.',
    change: 'Read the raw bytes before any body parser, and pass them on.',
    isRawBody: true,
  },
  body_object_string: {
    cause: 'The body is the text of a JavaScript object: a parsed body was put into a string.',
    change: 'Pass the raw bytes of the request instead of String(request.body).',
    isRawBody: true,
  },
  body_too_large: {
    cause: 'The body is larger than a receiver reads by default, 262144 bytes.',
    change: 'If the service really sends such bodies, raise maxBytes of the adapter and of createVerifier.',
  },
  body_envelope: {
    cause: 'The body is wrapped in the event of a gateway or queue; the signed bytes are one of its fields.',
    change: "Pass event.body, decoded when event.isBase64Encoded: Buffer.from(event.body, 'base64').",
    isRawBody: true,
  },
  body_stringified_bytes: {
    cause: 'The body lists the bytes as numbers: a Buffer or Uint8Array was turned into text.',
    change: 'Pass the Buffer itself, without JSON.stringify or String.',
    isRawBody: true,
  },
  body_double_encoded: {
    cause: 'The body is a JSON text within a JSON text: JSON.stringify was applied to the raw body.',
    change: 'Pass the raw body without JSON.stringify.',
    isRawBody: true,
  },
  body_escaped: {
    cause: 'The quotes of the body are escaped or the whole body is quoted, as in a log line.',
    change: 'Take the bytes from the request, not from a log; when a log is all there is, unescape it first.',
  },
  body_form_encoded: {
    cause: 'The body is URL-encoded: a form parser read it, or it was sent as a form.',
    change: 'Keep form parsers such as express.urlencoded() away from the route, and pass the raw bytes.',
    isRawBody: true,
  },
  body_base64: {
    cause: 'The body is in base64, as AWS API Gateway and function URLs pass it.',
    change: "Decode it first: Buffer.from(event.body, 'base64') when event.isBase64Encoded.",
    isRawBody: true,
  },
  body_hex: {
    cause: 'The body is in hex, as databases print binary columns.',
    change: "Decode it first: Buffer.from(text.replace(/^.x/, ''), 'hex').",
  },
  body_compressed: {
    cause: 'The body is compressed; the signature covers the bytes before compression.',
    change: 'Decompress the body before verifying, or let the proxy in front stop compressing requests.',
  },
  body_chunked: {
    cause: 'The body still has the chunk sizes of HTTP chunked transfer.',
    change: 'Take the body from the HTTP library and not from the socket or the packet capture.',
  },
  body_byte_order_mark: {
    cause: 'The body begins with a byte order mark, which an editor or decoder added.',
    change: 'Pass the bytes as they arrived; when saving them by hand choose UTF-8 without BOM.',
  },
  body_charset: {
    cause: 'The body was decoded and encoded with different character sets.',
    change: 'Pass bytes, not text; where text is unavoidable, decode and encode as UTF-8.',
    isRawBody: true,
  },
  body_line_ends: {
    cause: 'The line ends of the body were converted.',
    change: 'Transfer the body as binary; curl --data @file drops line ends, --data-binary @file keeps them.',
  },
  body_newline: {
    cause: 'A line end at the end of the body was added or removed.',
    change: 'Pass the bytes unchanged: an editor, echo (without -n) or a here-document adds one.',
  },
  body_padded: {
    cause: 'The body has blanks or NUL bytes around it that were not signed.',
    change: 'Pass only the received bytes: buffer.subarray(0, received), and no blanks around them.',
  },
  body_truncated: {
    cause: 'The end of the body is missing.',
    change: 'Wait for the whole body, and raise the body limit of the proxy, parser, log or column that cut it.',
    isRawBody: true,
  },
  body_reencoded: {
    cause: 'The body was parsed as JSON and written again, with other blanks or escapes than those that were signed.',
    change: 'Verify the raw bytes before any JSON parser.',
    isRawBody: true,
  },
  body_reordered: {
    cause: 'The body was parsed as JSON and written again with its fields in another order.',
    change: 'Verify the raw bytes before any JSON parser.',
    isRawBody: true,
  },
  body_replaced_characters: {
    cause: 'The body has replacement characters (U+FFFD): a decoder dropped bytes that it did not understand.',
    change: 'Collect bytes and join them before decoding: text += chunk breaks characters between two chunks.',
    isRawBody: true,
  },
  body_not_json: {
    cause: 'The body is not JSON, and the service sends nothing else.',
    change: 'Pass the body of this request: a proxy or a firewall may have replaced it.',
  },
  body_changed: {
    cause: 'The body is not in the form in which the service writes it, so something changed it after signing.',
    change: 'Verify the raw bytes as they arrive. No known change of the body restores them.',
    isRawBody: true,
  },
  secret_wrong: {
    cause:
      'The body is in exactly the form in which the service writes it, so the secret is probably not the right one.',
    change: 'Compare with the webhook secret of this integration and environment; after a rotation use the new one.',
  },
  delivery_stale: {
    cause: 'The delivery was signed too long ago for the clock.',
    change: 'Synchronise the clock (NTP). For queued or captured work pass the time of receipt: receivedAt, or --now.',
  },
  delivery_future: {
    cause: 'The delivery was signed ahead of the clock.',
    change: 'Synchronise the clock (NTP).',
  },
  snapshot_invalid: {
    cause: 'The signature is right, but the signed body is not a payment snapshot.',
    change: 'Update @payment-integration/webhook, and check that the delivery came from the service.',
  },
  integration_missing: {
    cause: 'The request has no X-Service-Integration header.',
    change: 'Let proxies and log filters pass X-Service-Integration on.',
  },
  integration_mismatch: {
    cause: 'X-Service-Integration is not the integrationAddress of the body.',
    change: 'Let proxies keep the header as it is, and take headers and body from the same request.',
  },
} as const satisfies Readonly<Record<string, Description>>

/**
 * The code of a fault.
 * @useDeclaredType
 */
export type FindingCode = keyof typeof descriptions

/** A fault of a delivery, or of the way in which it is verified. */
export interface Finding {
  readonly code: FindingCode
  /**
   * Whether it is shown: undoing it gives the signed bytes or the right key, or it alone makes a verifier reject.
   * Otherwise it is the likely cause.
   */
  readonly proved: boolean
  /** The cause, in a sentence. */
  readonly cause: string
  /** Facts that support it, without secrets, signatures or content of the body. */
  readonly evidence: readonly string[]
  /** The line or setting to change. */
  readonly change: string
  /** The line for each framework, where the cure is to keep the raw bytes. */
  readonly lines: readonly FrameworkLine[]
}

/** A fault and its facts, before it becomes a finding. */
export interface Fault {
  readonly code: FindingCode
  readonly evidence: readonly string[]
}

/** One line for each framework with an adapter. */
export const frameworkLines: readonly FrameworkLine[] = (Object.keys(names) as DoctorFramework[]).map((key) => ({
  framework: names[key],
  line: adapterLines[key],
}))
