/** Probes of the URL, the network path and the connections. Source: docs/interface.md 6, delivery. @module */
import type { SignedDelivery } from '../../deliveries.js'
import type { SocketAnswer } from '../send.js'
import type { Judgment, ProbeContext, ProbeTable } from './probe.js'
import {
  accepted,
  fail,
  findTransportCause,
  isAccepted,
  isServerError,
  judgeAccepted,
  judgeRejected,
  pass,
  rejected,
  successClause,
  warn,
} from './probe.js'

/** Hosts to which a development server delivers without TLS. */
const loopbackHost = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/

export const reachProbes = {
  'https-url': {
    sent: 'nothing: the URL is examined',
    expected: 'https:, or http: to this machine during development',
    clause: '6 Delivery: the URL must be HTTPS',
    effects: 0,
    async run({ url }): Promise<Judgment> {
      if (url.protocol === 'https:') return pass([], 'https')
      if (loopbackHost.test(url.hostname)) return pass([], 'http to this machine, for development only')
      return warn('url-not-https', [], 'http')
    },
  },
  reachable: {
    sent: 'a valid delivery',
    expected: 'an answer of a route that takes POST',
    clause: '6 Delivery: method POST, 5 seconds',
    effects: null,
    async run({ good, newPayment, send, timeoutMs }): Promise<Judgment> {
      const answer = await send(await good(newPayment()))
      const cause = findReachCause(answer, timeoutMs)
      return cause === null ? pass([answer]) : fail(cause, [answer], answer.errorCode ?? undefined)
    },
  },
  redirect: {
    sent: 'a valid delivery',
    expected: 'no 3xx',
    clause: successClause,
    effects: null,
    async run({ good, newPayment, send, timeoutMs }): Promise<Judgment> {
      const answer = await send(await good(newPayment()))
      if (findTransportCause(answer, timeoutMs) !== 'redirects') return pass([answer])
      const note = answer.location === null ? 'without a location' : `to ${toReadable(answer.location)}`
      return fail('redirects', [answer], note)
    },
  },
} satisfies ProbeTable

/** Why the route cannot be reached; null: it answers. Later probes report redirects and rate limits. */
function findReachCause(answer: SocketAnswer, timeoutMs: number): Judgment['cause'] {
  if (answer.status === 404) return 'route-missing'
  if (answer.status === 405) return 'post-rejected'
  const cause = findTransportCause(answer, timeoutMs)
  return cause === 'redirects' || cause === 'rate-limited' ? null : cause
}

/** The target of a redirect, shortened, without query and control characters. */
function toReadable(location: string): string {
  return (location.split(/[?#]/, 1)[0] ?? '').replace(/[^!-~]/g, '').slice(0, 200)
}

export const lastProbes = {
  'answer-time': {
    sent: 'nothing: the slowest accepted delivery counts',
    expected: 'half of the time that the service waits',
    clause: '6 Delivery and 8: the service gives up after 5 seconds',
    effects: 0,
    async run({ timeoutMs }: ProbeContext, earlierAnswers): Promise<Judgment> {
      const slowestMs = Math.max(0, ...earlierAnswers.filter(isAccepted).map(({ ms }) => ms))
      const note = `${slowestMs} ms of ${timeoutMs} ms`
      return slowestMs > timeoutMs / 2 ? warn('slow-answer', [], note) : pass([], note)
    },
  },
  'still-good': accepted({
    sent: 'a valid delivery after all others',
    clause: successClause,
    cause: 'unstable',
    deliveries: ({ good, newPayment }) => [good(newPayment())],
    refine: (judgment) => (judgment.answers[0]?.status === null ? { ...judgment, cause: 'unstable' } : judgment),
  }),
} satisfies ProbeTable

const unreadBodyBytes = 65_536
const largeBodyBytes = 1_048_576

/** A delivery of blanks, with an invented signature. */
function buildForged({ signBody }: ProbeContext, bodyBytes: number): Promise<SignedDelivery> {
  return signBody(`{"junk":"${' '.repeat(bodyBytes)}"}`, ({ t }) => `t=${t},v1=${'5e'.repeat(32)}`)
}

/** Adds the number of reused connections. A connection that ends early gets the cause `connection-not-reusable`. */
function addReuse(judgment: Judgment): Judgment {
  const reused = judgment.answers.filter((answer) => answer.reused).length
  const note = reused === 0 ? 'the receiver closes each connection' : `${reused} on a reused connection`
  const isReset = judgment.cause === 'connection-reset' || judgment.cause === 'not-http'
  return { ...judgment, note, cause: isReset ? 'connection-not-reusable' : judgment.cause }
}

export const connectionProbes = {
  'keep-alive': {
    sent: 'three valid deliveries on one HTTP/1.1 connection',
    expected: '2xx',
    clause: successClause,
    effects: 3,
    async run({ good, newPayment, sockets, timeoutMs }) {
      if (sockets === null) return null
      const deliveries = [good(newPayment()), good(newPayment()), good(newPayment())]
      const answers = await sockets.sendOnOneConnection(await Promise.all(deliveries))
      return addReuse(judgeAccepted(answers, 'connection-not-reusable', timeoutMs))
    },
  },
  'keep-alive-after-rejection': {
    sent: 'a forged delivery of 64 KiB, then a valid one on the same connection',
    expected: '4xx, then 2xx',
    clause: successClause,
    effects: 1,
    async run(context) {
      const { sockets, timeoutMs } = context
      if (sockets === null) return null
      const deliveries = [await buildForged(context, unreadBodyBytes), await context.good(context.newPayment())]
      const answers = await sockets.sendOnOneConnection(deliveries)
      const forgedJudgment = judgeRejected(answers.slice(0, 1), 'presence-only', timeoutMs)
      const validJudgment = judgeAccepted(answers.slice(1), 'connection-not-reusable', timeoutMs)
      const isValidDecisive = validJudgment.verdict === 'fail' || forgedJudgment.verdict === 'pass'
      return addReuse({ ...(isValidDecisive ? validJudgment : forgedJudgment), answers })
    },
  },
  'large-body': {
    ...rejected({
      sent: 'a forged body of 1 MiB',
      clause: '6 Delivery: the service gives up after 5 seconds',
      cause: 'presence-only',
      deliveries: (context) => [buildForged(context, largeBodyBytes)],
      refine: (judgment) => (judgment.cause === 'slow-answer' ? { ...judgment, cause: 'large-body' } : judgment),
    }),
    expected: '4xx in time',
  },
  'in-pieces': {
    sent: 'a valid delivery in three pieces',
    expected: '2xx',
    clause: '6 signature rule 1: over the whole body',
    effects: 1,
    async run({ good, newPayment, sockets, timeoutMs }) {
      if (sockets === null) return null
      const first = await sockets.sendInPieces(await good(newPayment()))
      // A server that restarts after the earlier large body, such as wrangler's, answers 5xx once.
      const answer = isServerError(first) ? await sockets.sendInPieces(await good(newPayment())) : first
      return judgeAccepted([answer], 'reads-first-piece', timeoutMs)
    },
  },
  'broken-upload': {
    sent: 'half of a body, then a broken connection; then a valid delivery',
    expected: '2xx',
    clause: successClause,
    effects: 1,
    async run({ good, newPayment, send, sockets, timeoutMs }) {
      if (sockets === null) return null
      await sockets.breakUpload(await good(newPayment()))
      const answer = await send(await good(newPayment()))
      const judgment = judgeAccepted([answer], 'breaks-after-upload', timeoutMs)
      const isGone = answer.status === null && judgment.cause !== 'slow-answer'
      return isGone ? { ...judgment, cause: 'breaks-after-upload' } : judgment
    },
  },
} satisfies ProbeTable
