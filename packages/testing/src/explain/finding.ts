/** The faults that an explanation can name, with causes and remedies. Source: docs/explain.md. @module */

/** The line for each framework. Each adapter reads the raw bytes, and must come before any parser. */
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

/** A framework with an adapter. @useDeclaredType */
export type DoctorFramework = keyof typeof adapterLines

const labels = {
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

type ExplainFramework = (typeof labels)[DoctorFramework]

interface FrameworkLine {
  readonly framework: ExplainFramework
  readonly line: string
}

interface Description {
  /** The cause, in a sentence. */
  readonly cause: string
  /** The line or setting to change. */
  readonly change: string
  /** Whether the remedy is to pass the raw bytes, which each framework does in its own way. */
  readonly isRawBody: boolean
}

const other = (cause: string, change: string): Description => ({ cause, change, isRawBody: false })
const raw = (cause: string, change = 'Verify the raw bytes before any JSON parser.'): Description => ({
  cause,
  change,
  isRawBody: true,
})
const gatewayBody = "Pass event.body; when event.isBase64Encoded: Buffer.from(event.body, 'base64')."
const keepHeaders = 'Let proxies, gateways and log filters pass the header on, and pass the headers of the request.'

/** Every fault with its change, the most specific first. Findings of equal proof follow this order. */
// biome-ignore format: a table; the second line of a row is the change
export const descriptions = {
  signature_missing: other('The request has no X-Service-Signature header.', keepHeaders),
  signature_other_name: other('The signature arrived under another header name.',
    'Look X-Service-Signature up in any case, and let the proxy keep the name.'),
  signature_repeated: other('X-Service-Signature arrived more than once.',
    'Let one component add the header: a proxy or a replay tool added another.'),
  time_in_milliseconds: other('The time t has 13 digits: milliseconds instead of seconds.',
    'In the signer: const t = Math.floor(Date.now() / 1000).'),
  signature_upper_case: other('The signature is in upper-case hex instead of lowercase.',
    "Keep the header's value unchanged; in a signer: hmac.digest('hex')."),
  signature_mangled: other('The header has quotes, blanks or another encoding.',
    'Pass the value on unchanged, without JSON.stringify or encodeURIComponent.'),
  signature_truncated: other('The v1 field is shorter than 64 hex digits.',
    'Raise the header limit of the proxy, log or column that cut it.'),
  signature_malformed: other('X-Service-Signature is not t=<unix seconds>,v1=<64 lowercase hex digits>.',
    'Use the header exactly as it arrived; the service did not send this one.'),
  scheme_unknown: other('X-Service-Signature has no v1 field, only unknown schemes.',
    'Update @payment-integration/webhook: a newer service may sign with a newer scheme.'),
  secret_empty: other('A signing secret is empty or blank.',
    'Set its variable where the receiver runs, and restart the receiver.'),
  secrets_swapped: other('The secret given as API secret signed this delivery.',
    'Swap the two: the webhook secret goes to createVerifier, the API secret to createClient.'),
  secret_is_api_secret: other('The API secret stands where the webhook signing secret belongs.',
    'Set WEBHOOK_SIGNING_SECRET to the webhook secret.'),
  secret_previous: other('A previous secret signed this delivery: a rotation is not complete.',
    'Pass both during the rotation: createVerifier({ secrets: [newSecret, oldSecret] }).'),
  secret_whitespace: other('The signing secret has white space or a line end around it.',
    'Remove it from the variable or file; when reading a file: readFileSync(path, "utf8").trim().'),
  secret_quoted: other('The signing secret has quotes around it.',
    'Remove them: docker --env-file and many consoles keep the quotes of an environment file.'),
  secret_assignment: other('The signing secret begins with the name of its variable.',
    'Keep only the text after the equals sign.'),
  secret_list: other('One text holds several secrets, and one of them signed this delivery.',
    'Split it: createVerifier({ secrets: process.env.WEBHOOK_SIGNING_SECRET.split(",") }).'),
  secret_encoded: other('The signing secret was encoded after it was issued.', 'Store the secret as issued.'),
  secret_prefix: other('The signing secret lacks its prefix, which is part of the key.',
    'Store the secret as issued, with its prefix pi_whsec_.'),
  body_parsed: raw('The body is a parsed object instead of the signed bytes.'),
  body_missing: raw('The body is empty: something read the stream first.'),
  body_object_string: raw('The body is a JavaScript object that was turned into a string.'),
  body_too_large: other('The body is larger than 262144 bytes, the default limit of a receiver.',
    'If the service sends such bodies, raise maxBytes of the adapter and of createVerifier.'),
  body_envelope: raw('The signed bytes are a field of the event of a gateway or queue.', gatewayBody),
  body_stringified_bytes: raw('The body lists its bytes as numbers: a Buffer was turned into text.'),
  body_double_encoded: raw('The body is JSON text within JSON text: JSON.stringify was applied to it.'),
  body_escaped: other('The quotes of the body are escaped, or the whole body is quoted.',
    'Take the bytes from the request, not from a log.'),
  body_form_encoded: raw('The body is URL-encoded, as by a form parser.'),
  body_base64: raw('The body is in base64.', gatewayBody),
  body_hex: other('The body is in hex, as databases print binary columns.',
    "Decode it first: Buffer.from(text.replace(/^.x/, ''), 'hex')."),
  body_compressed: other('The body is compressed; the signature covers the bytes before compression.',
    'Decompress it before verifying, or let the proxy stop compressing requests.'),
  body_chunked: other('The body still has the sizes of HTTP chunks.',
    'Take the body from the HTTP library, not from the socket or a packet capture.'),
  body_byte_order_mark: other('The body begins with a byte order mark.',
    'Pass the bytes as they arrived; save files as UTF-8 without BOM.'),
  body_charset: raw('The body was decoded and encoded with different character sets.'),
  body_line_ends: other('The line ends of the body were converted.',
    'Transfer the body as binary, such as with curl --data-binary @file.'),
  body_newline: other('A line end at the end of the body was added or removed.',
    'Pass the bytes unchanged: an editor, echo or a here-document adds one.'),
  body_padded: other('The body has unsigned blanks or NUL bytes around it.',
    'Pass only the received bytes: buffer.subarray(0, received).'),
  body_truncated: raw('The end of the body is missing.',
    'Wait for the whole body, and raise the limit of the proxy, parser, log or column that cut it.'),
  body_reencoded: raw('The body was parsed as JSON and written again, with other blanks or escapes.'),
  body_reordered: raw('The body was parsed as JSON and written again, with its fields in another order.'),
  body_replaced_characters: raw('The body has replacement characters (U+FFFD), which a decoder made.',
    'Join the bytes before decoding: text += chunk breaks characters between two chunks.'),
  body_not_json: other('The body is not JSON, and the service sends nothing else.',
    'Pass the body of this request; a proxy or a firewall may have replaced it.'),
  body_changed: raw('The body is not in the form in which the service writes it: something changed it after signing.'),
  secret_wrong: other('The body is in the form in which the service writes it, so the secret is probably wrong.',
    'Compare it with the webhook secret of this integration and environment.'),
  delivery_stale: other('The delivery was signed too long ago for the clock.',
    'Synchronize the clock (NTP); for a captured request pass the time of receipt (receivedAt, --now).'),
  delivery_future: other('The delivery was signed ahead of the clock.', 'Synchronize the clock (NTP).'),
  snapshot_invalid: other('The signature is right, but the signed body is not a payment snapshot.',
    'Update @payment-integration/webhook, and check that the service sent this delivery.'),
  integration_missing: other('The request has no X-Service-Integration header.', keepHeaders),
  integration_mismatch: other('X-Service-Integration is not the integrationAddress of the body.',
    'Keep the header unchanged, and take headers and body from the same request.'),
} as const satisfies Readonly<Record<string, Description>>

/** The code of a fault. @useDeclaredType */
export type FindingCode = keyof typeof descriptions

/** A fault of a delivery, or of the way in which it is verified. */
export interface ExplainFinding {
  readonly code: FindingCode
  /** Whether undoing the fault gives the signature, or the fault alone makes a verifier reject. False: it is likely. */
  readonly proved: boolean
  /** The cause, in a sentence. */
  readonly cause: string
  /** The evidence, without secrets, signatures or content of the body. */
  readonly evidence: readonly string[]
  /** The line or setting to change. */
  readonly change: string
  /** The line for each framework, where the remedy is to keep the raw bytes. */
  readonly lines: readonly FrameworkLine[]
}

/** A fault and its facts, before it becomes a finding. */
export type Fault = Pick<ExplainFinding, 'code' | 'proved' | 'evidence'>

export const prove = (code: FindingCode, ...evidence: string[]): Fault => ({ code, proved: true, evidence })

export const suspect = (code: FindingCode, ...evidence: string[]): Fault => ({ code, proved: false, evidence })

export const frameworkLines: readonly FrameworkLine[] = (Object.keys(labels) as DoctorFramework[]).map((key) => ({
  framework: labels[key],
  line: adapterLines[key],
}))
