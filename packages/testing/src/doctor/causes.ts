/** The closed list of causes that a probe can name, and their remedies in each framework. @module */
import { adapterLines, type DoctorFramework } from '../adapter-lines.js'

/** Frameworks with lines of their own. */
export const doctorFrameworks = [
  ...['express', 'fastify', 'hono', 'next-app', 'next-pages'],
  ...['nest', 'koa', 'worker', 'lambda', 'node'],
] as const satisfies readonly string[] as readonly DoctorFramework[]

/** A remedy. */
export interface DoctorFix {
  /** The change, in one or two sentences. */
  readonly summary: string
  /** The line to change, by framework. Empty when the change is outside the program. */
  readonly lines: Readonly<Partial<Record<DoctorFramework, string>>>
}

type Lines = Readonly<Record<DoctorFramework, string>>

/** The same line for every framework, except those with an own one. */
function everywhere(line: string, others: Partial<Lines> = {}): Lines {
  return Object.fromEntries(doctorFrameworks.map((name) => [name, others[name] ?? line])) as Lines
}

const fixes = {
  url: { summary: 'Change the URL that the service has to the one that answers by itself.', lines: {} },
  certificate: {
    summary:
      'Install a certificate that names this host, with its intermediate certificates. Do not switch checks off.',
    lines: {},
  },
  answer: {
    summary: 'Answer within 5 seconds: store the snapshot, answer 204, and do slow work from a queue.',
    lines: everywhere('createReceiver({ verify, store, handle: (snapshot, tx) => enqueue(tx, snapshot) })'),
  },
  route: { summary: 'Serve POST at the path of the URL, or change the URL.', lines: adapterLines },
  login: {
    summary: 'Exclude the route from log-in, CSRF checks and rate limits: the signature authenticates a delivery.',
    lines: {
      ...adapterLines,
      'next-app': "export const config = { matcher: '/((?!webhook).*)' } // middleware.ts",
      'next-pages': "export const config = { matcher: '/((?!api/webhook).*)' } // middleware.ts",
    },
  },
  secret: {
    summary:
      'Pass the webhook signing secret as it was issued: not the API secret, without quotes or white space. Restart the receiver.',
    lines: everywhere("createVerifier({ secrets: process.env['WEBHOOK_SIGNING_SECRET'] })", {
      worker: 'createVerifier({ secrets: env.WEBHOOK_SIGNING_SECRET })',
    }),
  },
  clock: {
    summary: 'Synchronise the clock of the receiver (NTP), and accept 300 seconds on both sides.',
    lines: everywhere('createVerifier({ secrets, toleranceSeconds: 300 })'),
  },
  'raw-body': { summary: 'Verify the raw bytes, before anything parses them.', lines: adapterLines },
  handler: {
    summary: 'Read the log of the receiver. A payment without an order of yours is no error: store it and answer 204.',
    lines: everywhere('createReceiver({ verify, store, handle }) // handle returns for payments that are not yours'),
  },
  verifier: {
    summary: 'Verify each delivery before anything else, and answer 4xx when it is rejected.',
    lines: adapterLines,
  },
  'content-type': {
    summary: 'Read and verify the body whatever its content type is.',
    lines: {
      ...adapterLines,
      express: "app.all('/webhook', createExpressHandler({ receive })), or express.raw({ type: () => true })",
    },
  },
  window: {
    summary: 'Compare t with the clock on both sides: at most 300 seconds.',
    lines: everywhere('createVerifier({ secrets, toleranceSeconds: 300 })'),
  },
  schema: {
    summary: 'Accept unknown fields, unknown states, null fields and texts of any length, as verify() does.',
    lines: everywhere('const { snapshot } = await verify(delivery) // instead of a strict schema of your own'),
  },
  versions: {
    summary:
      'Store the version per chainId and txHash. Discard what is not greater, and answer 2xx. Handle each version once.',
    lines: everywhere('const { receive } = createReceiver({ verify, store, handle })'),
  },
  'body-limit': {
    summary: 'Accept bodies up to 256 KiB, and answer 413 to larger ones.',
    lines: {
      ...adapterLines,
      express: "express.raw({ type: 'application/json', limit: 262144 })",
      fastify: "app.register(fastifyReceiver, { url: '/webhook', receive, maxBytes: 262144 })",
      node: 'await readBody(request, { maxBytes: 262144 })',
    },
  },
  connection: {
    summary: 'Read or discard the whole body of a rejected request, or close the connection with the answer.',
    lines: adapterLines,
  },
} as const satisfies Readonly<Record<string, DoctorFix>>

/** Topics of remedies. */
export type FixTopic = keyof typeof fixes

/** The remedy of a topic. */
export function fixOf(topic: FixTopic): DoctorFix {
  return fixes[topic]
}

/** A cause: what is wrong, in one sentence, and the topic of its remedy. */
interface CauseEntry {
  readonly sentence: string
  readonly topic: FixTopic
}

const entries = {
  'host-unknown': { sentence: 'The host name of the URL has no address.', topic: 'url' },
  'connection-refused': { sentence: 'Nothing listens at the address and port of the URL.', topic: 'url' },
  'certificate-invalid': {
    sentence: 'The TLS handshake failed: the certificate is not valid for this host, or the port does not speak TLS.',
    topic: 'certificate',
  },
  'connection-reset': { sentence: 'The connection was closed before an answer arrived.', topic: 'answer' },
  'not-http': { sentence: 'The answer is not well-formed HTTP/1.1, or its head is over 16 KB.', topic: 'url' },
  'slow-answer': {
    sentence: 'No answer arrived within the time after which the service gives up (5 seconds).',
    topic: 'answer',
  },
  'url-not-https': { sentence: 'The service delivers to https: URLs only.', topic: 'url' },
  'route-missing': { sentence: 'The server has no route at the path of the URL (404).', topic: 'route' },
  'post-rejected': { sentence: 'The route does not accept POST (405).', topic: 'route' },
  redirects: { sentence: 'The URL redirects, and the service follows no redirect.', topic: 'url' },
  'login-required': {
    sentence: 'Something in front of the route asks for a log-in; deliveries carry only their signature.',
    topic: 'login',
  },
  'rate-limited': { sentence: 'A rate limit answers 429; the service sends bursts of deliveries.', topic: 'login' },
  'wrong-secret': {
    sentence:
      'Correctly signed deliveries are rejected: the receiver has another signing secret, or verifies other bytes.',
    topic: 'secret',
  },
  'api-secret-used': {
    sentence: 'The receiver verifies with the API secret instead of the webhook signing secret.',
    topic: 'secret',
  },
  'secret-altered': {
    sentence: 'The receiver has the signing secret with quotes, white space or a line break around it.',
    topic: 'secret',
  },
  'secret-decoded': {
    sentence: 'The receiver decodes the signing secret from hex or Base64; its text itself is the key.',
    topic: 'secret',
  },
  'signed-string-wrong': {
    sentence: 'The receiver computes the signature over another string than t, a dot and the raw body.',
    topic: 'verifier',
  },
  'clock-wrong': {
    sentence: "The receiver's clock differs from this machine's by more than the freshness window.",
    topic: 'clock',
  },
  'body-parsed': {
    sentence: 'Something parses or consumes the body before the signature is verified.',
    topic: 'raw-body',
  },
  'body-reserialised': {
    sentence: 'The receiver verifies JSON that was parsed and written again, instead of the raw bytes.',
    topic: 'raw-body',
  },
  'body-decoded': {
    sentence: 'Bodies with non-ASCII characters or escapes are rejected: the receiver changes the bytes.',
    topic: 'raw-body',
  },
  'reads-first-piece': {
    sentence: 'A body that arrives in several pieces is rejected: only the first piece is read.',
    topic: 'raw-body',
  },
  'fails-before-verifying': {
    sentence: 'Every delivery is answered 5xx, also an unsigned one: a setting is missing, or a parser is in front.',
    topic: 'raw-body',
  },
  'handler-fails': {
    sentence: 'The receiver fails after it has verified a delivery (5xx).',
    topic: 'handler',
  },
  'no-verification': { sentence: 'Unsigned deliveries are accepted: nothing is verified.', topic: 'verifier' },
  'presence-only': {
    sentence: 'Any signature is accepted: only the presence of the header is checked.',
    topic: 'verifier',
  },
  'malformed-accepted': {
    sentence: 'A signature header without its v1, or without a readable t, is accepted.',
    topic: 'verifier',
  },
  'partial-comparison': {
    sentence: 'The signature is compared in part: one that is right only at its beginning is accepted.',
    topic: 'verifier',
  },
  'accepts-other-scheme': {
    sentence: 'A signature in another field than v1 is accepted.',
    topic: 'verifier',
  },
  'other-secret-accepted': {
    sentence: 'A signature of another secret is accepted.',
    topic: 'verifier',
  },
  'tampering-accepted': {
    sentence: 'A body that was changed after signing is accepted.',
    topic: 'verifier',
  },
  'skips-other-content-types': {
    sentence: 'With another content type the signature is not verified.',
    topic: 'content-type',
  },
  'answers-before-verifying': {
    sentence:
      'The receiver answers 2xx before it verifies: its sender cannot see a rejection, and no failure is retried.',
    topic: 'verifier',
  },
  'no-freshness-window': {
    sentence: 'Deliveries of any age are accepted, old and future: t is not compared with the clock.',
    topic: 'window',
  },
  'accepts-old': {
    sentence: 'Old deliveries are accepted: a copy of one stays valid for ever.',
    topic: 'window',
  },
  'accepts-future': {
    sentence: 'Deliveries signed in the future are accepted: the freshness window has only one side.',
    topic: 'window',
  },
  'window-wide': { sentence: 'The freshness window is wider than the recommended 300 seconds.', topic: 'window' },
  'window-narrow': {
    sentence: 'A delivery 240 seconds from this clock is rejected: the window is narrow, or the clock is wrong.',
    topic: 'clock',
  },
  'scheme-by-position': {
    sentence: 'The receiver takes a signature by its position in the header, instead of the field v1.',
    topic: 'verifier',
  },
  'field-order': { sentence: 'The receiver requires an order of the fields in the header.', topic: 'verifier' },
  'rejects-header-fields': {
    sentence: 'Unknown fields in the signature header are rejected; receivers must ignore them.',
    topic: 'verifier',
  },
  'header-case': { sentence: 'The receiver finds the signature header only in one spelling.', topic: 'verifier' },
  'rejects-unknown-fields': {
    sentence: 'Unknown fields in the body are rejected; a newer service may add some.',
    topic: 'schema',
  },
  'rejects-unknown-state': {
    sentence: 'An unknown state is rejected; a newer service may add one.',
    topic: 'schema',
  },
  'rejects-a-state': { sentence: 'A documented payment state is rejected.', topic: 'schema' },
  'fails-on-null': {
    sentence: 'A null field is rejected; state, recipient, its subtitle and invoice may be null.',
    topic: 'schema',
  },
  'fails-on-long-text': { sentence: 'A long merchant title is rejected.', topic: 'schema' },
  'body-limit-low': { sentence: 'A body of a few kilobytes is too large for the receiver (413).', topic: 'body-limit' },
  'rejects-duplicates': {
    sentence: 'A repeated delivery is rejected; the service retries it until its last attempt.',
    topic: 'versions',
  },
  'rejects-lower-version': {
    sentence: 'A version lower than the stored one is rejected; discard it and answer 2xx.',
    topic: 'versions',
  },
  'rejects-version-gap': {
    sentence: 'A version is rejected because lower ones never arrived; some are superseded and never sent.',
    topic: 'versions',
  },
  'confuses-chains': {
    sentence: 'A payment is identified by chainId and txHash together; the hash alone is not unique.',
    topic: 'versions',
  },
  'fails-at-once': {
    sentence: 'Two deliveries of one payment at the same time end in an error that a retry does not repair.',
    topic: 'versions',
  },
  'content-type-exact': {
    sentence: 'Only the exact content type application/json is accepted; a charset parameter is rejected.',
    topic: 'content-type',
  },
  'fails-on-content-type': {
    sentence: 'A missing or other content type ends in a server error.',
    topic: 'content-type',
  },
  'connection-not-reusable': {
    sentence: 'A second request on the same connection is not answered correctly.',
    topic: 'connection',
  },
  'breaks-after-upload': {
    sentence: 'After a broken upload the next delivery is not accepted.',
    topic: 'connection',
  },
  'large-body': { sentence: 'A body of 1 MiB is not rejected with an answer.', topic: 'body-limit' },
  'rejected-with-5xx': {
    sentence: 'An invalid delivery is rejected as a server error, so anyone can fill your error log.',
    topic: 'verifier',
  },
  'rejected-without-answer': {
    sentence: 'An invalid delivery ends in a closed connection instead of a 4xx.',
    topic: 'answer',
  },
  'effect-missing': { sentence: 'A delivery was answered 2xx but had no effect.', topic: 'versions' },
  'effect-repeated': { sentence: 'A payment version had its effect more than once.', topic: 'versions' },
  'effect-unverified': { sentence: 'A delivery that was rejected had an effect.', topic: 'verifier' },
  unstable: { sentence: 'After the other probes a valid delivery is no longer accepted.', topic: 'connection' },
} as const satisfies Readonly<Record<string, CauseEntry>>

/**
 * Code of a cause. The list is closed: a `switch` over it is complete.
 * @useDeclaredType
 */
export type DoctorCauseCode = keyof typeof entries

/** A named cause. */
export interface DoctorCause {
  readonly code: DoctorCauseCode
  /** The fault, in one sentence. */
  readonly sentence: string
}

/** All codes, in the order in which causes are reported. */
export const doctorCauseCodes = Object.keys(entries) as readonly DoctorCauseCode[]

/** The cause of a code. */
export function causeOf(code: DoctorCauseCode): DoctorCause {
  return { code, sentence: entries[code].sentence }
}

/** The topic of the remedy of a cause. */
export function topicOf(code: DoctorCauseCode): FixTopic {
  return entries[code].topic
}
