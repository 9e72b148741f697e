/** The closed list of causes that a probe can name, and their remedies in each framework. @module */
import { adapterLines, type DoctorFramework } from '../explain/finding.js'

/** The frameworks for which remedies have a line of code. */
export const doctorFrameworks = Object.keys(adapterLines) as readonly DoctorFramework[]

export interface DoctorFix {
  /** The change, in one or two sentences. */
  readonly summary: string
  /** The line to change, by framework. Empty when the change is outside the program. */
  readonly lines: Readonly<Partial<Record<DoctorFramework, string>>>
}

type Lines = Readonly<Record<DoctorFramework, string>>

/** @param line - The line to change: one for all frameworks, or one by framework. @param exceptions - Replace lines. */
function buildFix(summary: string, line: string | Partial<Lines> = {}, exceptions: Partial<Lines> = {}): DoctorFix {
  const lines = typeof line === 'string' ? Object.fromEntries(doctorFrameworks.map((name) => [name, line])) : line
  return { summary, lines: { ...lines, ...exceptions } }
}

const toleranceLine = 'createVerifier({ secrets, toleranceSeconds: 300 })'

/** The remedies by topic. */
export const fixes = {
  url: buildFix('Give the service the URL that answers directly, without a redirect.'),
  certificate: buildFix(
    'Install a certificate that names this host, with its intermediate certificates. Do not switch checks off.',
  ),
  answer: buildFix(
    'Answer within 5 seconds: store the snapshot, answer 204, and do slow work from a queue.',
    'createReceiver({ verify, store, handle: (snapshot, tx) => enqueue(tx, snapshot) })',
  ),
  route: buildFix('Serve POST at the path of the URL, or change the URL.', adapterLines),
  login: buildFix(
    'Exclude the route from log-in, CSRF checks and rate limits: the signature authenticates a delivery.',
    adapterLines,
    {
      'next-app': "export const config = { matcher: '/((?!webhook).*)' } // middleware.ts",
      'next-pages': "export const config = { matcher: '/((?!api/webhook).*)' } // middleware.ts",
    },
  ),
  secret: buildFix(
    'Pass the webhook signing secret as it was issued: not the API secret, without quotes or white space. Restart the receiver.',
    "createVerifier({ secrets: process.env['WEBHOOK_SIGNING_SECRET'] })",
    { worker: 'createVerifier({ secrets: env.WEBHOOK_SIGNING_SECRET })' },
  ),
  clock: buildFix('Synchronize the clock of the receiver (NTP), and accept 300 seconds on both sides.', toleranceLine),
  'raw-body': buildFix('Verify the raw bytes, before anything parses them.', adapterLines),
  handler: buildFix(
    'Read the log of the receiver. A payment without an order of yours is no error: store it and answer 204.',
    'createReceiver({ verify, store, handle }) // handle returns for payments that are not yours',
  ),
  crash: buildFix(
    'Read the log of the receiver for the first error: often a wrong variable, such as the secret, or the database.',
  ),
  verifier: buildFix('Verify each delivery before anything else, and answer 4xx when it is rejected.', adapterLines),
  'content-type': buildFix('Read and verify the body whatever its content type is.', adapterLines, {
    express: "app.all('/webhook', createExpressHandler({ receive })), or express.raw({ type: () => true })",
  }),
  window: buildFix('Compare t with the clock on both sides: at most 300 seconds.', toleranceLine),
  schema: buildFix(
    'Accept unknown fields, unknown states, null fields and texts of any length, as verify() does.',
    'const { snapshot } = await verify(delivery) // instead of a strict schema of your own',
  ),
  versions: buildFix(
    'Store the version per chainId and txHash. Discard lower or equal ones, and answer 2xx. Handle each version once.',
    'const { receive } = createReceiver({ verify, store, handle })',
  ),
  'body-limit': buildFix('Accept bodies up to 256 KiB, and answer 413 to larger ones.', adapterLines, {
    express: "express.raw({ type: 'application/json', limit: 262144 })",
    fastify: "app.register(fastifyReceiver, { url: '/webhook', receive, maxBytes: 262144 })",
    node: 'await readBody(request, { maxBytes: 262144 })',
  }),
  connection: buildFix(
    'Read or discard the whole body of a rejected request, or close the connection with the answer.',
    adapterLines,
  ),
} as const satisfies Readonly<Record<string, DoctorFix>>

/** For each code of a cause, the topic of its remedy, and the fault in one sentence. */
// biome-ignore format: a table
export const causes = {
  'host-unknown': ['url', 'The host name of the URL has no address.'],
  'connection-refused': ['url', 'Nothing listens at the address and port of the URL.'],
  'certificate-invalid': ['certificate',
    'The TLS certificate is not valid for this host, or the port does not speak TLS.'],
  'connection-reset': ['crash', 'The connection was closed before an answer arrived.'],
  'not-http': ['url', 'The answer is not HTTP/1.1, or its head exceeds 16 KB.'],
  'slow-answer': ['answer', 'No answer arrived within 5 seconds, when the service gives up.'],
  'url-not-https': ['url', 'The service delivers to https: URLs only.'],
  'route-missing': ['route', 'The server has no route at the path of the URL (404).'],
  'post-rejected': ['route', 'The route does not accept POST (405).'],
  redirects: ['url', 'The URL redirects, and the service follows no redirect.'],
  'login-required': ['login', 'Something in front of the route asks for a log-in.'],
  'rate-limited': ['login', 'A rate limit answers 429; the service sends bursts of deliveries.'],
  'wrong-secret': ['secret', 'The receiver has another signing secret, or verifies other bytes.'],
  'api-secret-used': ['secret', 'The receiver verifies with the API secret.'],
  'secret-altered': ['secret', 'The signing secret has quotes, white space or a line break around it.'],
  'secret-decoded': ['secret', 'The receiver decodes the signing secret, whose text itself is the key.'],
  'signed-string-wrong': ['verifier', 'The receiver signs another string than t, a dot and the raw body.'],
  'clock-wrong': ['clock', 'The clock of the receiver is off by more than the freshness window.'],
  'body-parsed': ['raw-body', 'Something parses or consumes the body before the signature is verified.'],
  'body-reserialized': ['raw-body', 'The receiver verifies JSON that was parsed and written again.'],
  'body-decoded': ['raw-body', 'The receiver changes non-ASCII characters or escapes before it verifies.'],
  'reads-first-piece': ['raw-body', 'The receiver reads only the first piece of a body.'],
  'fails-before-verifying': ['crash', 'The receiver answers 5xx to every request, signed or not.'],
  'handler-fails': ['handler', 'The receiver fails after it has verified a delivery (5xx).'],
  'no-verification': ['verifier', 'Unsigned deliveries are accepted.'],
  'presence-only': ['verifier', 'Any signature is accepted.'],
  'malformed-accepted': ['verifier', 'A signature header without v1, or without a readable t, is accepted.'],
  'partial-comparison': ['verifier', 'A signature that is right only at its beginning is accepted.'],
  'accepts-other-scheme': ['verifier', 'A signature in another field than v1 is accepted.'],
  'other-secret-accepted': ['verifier', 'A signature of another secret is accepted.'],
  'tampering-accepted': ['verifier', 'A body that was changed after signing is accepted.'],
  'skips-other-content-types': ['content-type', 'With another content type the signature is not verified.'],
  'answers-before-verifying': ['verifier', 'The receiver answers 2xx before it verifies, so no failure is retried.'],
  'no-freshness-window': ['window', 'Deliveries of any age are accepted, old and future.'],
  'accepts-old': ['window', 'Old deliveries are accepted, so a copy stays valid for ever.'],
  'accepts-future': ['window', 'Deliveries signed in the future are accepted.'],
  'window-wide': ['window', 'The freshness window is wider than the recommended 300 seconds.'],
  'window-narrow': ['clock', 'A delivery 240 seconds from this clock is rejected: a narrow window, or a wrong clock.'],
  'scheme-by-position': ['verifier', 'The receiver finds the signature by its position instead of its name, v1.'],
  'field-order': ['verifier', 'The receiver requires an order of the fields in the header.'],
  'rejects-header-fields': ['verifier', 'Unknown fields in the signature header are rejected.'],
  'header-case': ['verifier', 'The receiver finds the signature header in one spelling only.'],
  'rejects-unknown-fields': ['schema', 'Unknown fields in the body are rejected; a newer service may add some.'],
  'rejects-unknown-state': ['schema', 'An unknown state is rejected; a newer service may add one.'],
  'rejects-a-state': ['schema', 'A documented payment state is rejected.'],
  'fails-on-null': ['schema', 'A null state, recipient, subtitle or invoice is rejected.'],
  'fails-on-long-text': ['schema', 'A long merchant title is rejected.'],
  'body-limit-low': ['body-limit', 'A body of a few kilobytes is too large for the receiver (413).'],
  'rejects-duplicates': ['versions',
    'A repeated delivery is rejected, so the service retries it until its last attempt.'],
  'rejects-lower-version': ['versions', 'A version lower than the stored one is rejected instead of discarded.'],
  'rejects-version-gap': ['versions',
    'A version is rejected because lower ones never arrived; superseded ones are never sent.'],
  'confuses-chains': ['versions', 'Two payments with one hash on two chains are taken for one.'],
  'fails-at-once': ['versions',
    'Two concurrent deliveries of one payment end in an error that a retry does not repair.'],
  'content-type-exact': ['content-type', 'The content type application/json with a charset is rejected.'],
  'fails-on-content-type': ['content-type', 'A missing or other content type ends in a server error.'],
  'connection-not-reusable': ['connection', 'A second request on one connection is not answered correctly.'],
  'breaks-after-upload': ['connection', 'After a broken upload the next delivery is not accepted.'],
  'large-body': ['body-limit', 'A body of 1 MiB gets no answer.'],
  'rejected-with-5xx': ['verifier', 'An invalid delivery is answered 5xx, so anyone can fill your error log.'],
  'rejected-without-answer': ['answer', 'An invalid delivery ends in a closed connection instead of a 4xx.'],
  'effect-missing': ['versions', 'A delivery was answered 2xx but had no effect.'],
  'effect-repeated': ['versions', 'A payment version had its effect more than once.'],
  'effect-unverified': ['verifier', 'A delivery that was rejected had an effect.'],
  unstable: ['connection', 'After the other probes a valid delivery is no longer accepted.'],
} as const satisfies Readonly<Record<string, readonly [topic: keyof typeof fixes, sentence: string]>>

/** The code of a cause. The list is closed, so that a `switch` over it can be exhaustive. @useDeclaredType */
export type DoctorCauseCode = keyof typeof causes

export interface DoctorCause {
  readonly code: DoctorCauseCode
  /** The fault, in one sentence. */
  readonly sentence: string
}

/** All codes, in the order in which causes are reported. */
export const doctorCauseCodes = Object.keys(causes) as readonly DoctorCauseCode[]

export const getCause = (code: DoctorCauseCode): DoctorCause => ({ code, sentence: causes[code][1] })

export const getFix = (code: DoctorCauseCode): DoctorFix => fixes[causes[code][0]]
