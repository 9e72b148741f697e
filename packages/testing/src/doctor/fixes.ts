/** Remedies: one sentence for each topic, and the line to change in each framework. @module */
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
