/** Probes of the URL, the network path and the connections. Source: docs/interface.md 6, delivery. @module */
import type { SignedDelivery } from '../../deliveries.js'
import type { Sockets } from '../send.js'
import type { Bench, Judgement, ProbeTable } from './probe.js'
import { anyOther, isAccepted, judgeAccepted, judgeRejected, transportCause } from './probe.js'

/** Hosts to which a development server delivers without TLS. */
const loopback = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/

export const reachProbes = {
  'https-url': {
    sent: 'nothing: the URL is examined',
    expected: 'https:, or http: to this machine during development',
    clause: '6 Delivery: the URL must be HTTPS',
    effects: 0,
    async run({ url }): Promise<Judgement> {
      if (url.protocol === 'https:') return { verdict: 'pass', cause: null, answers: [], note: 'https' }
      if (loopback.test(url.hostname))
        return { verdict: 'pass', cause: null, answers: [], note: 'http to this machine, for development only' }
      return { verdict: 'warn', cause: 'url-not-https', answers: [], note: 'http' }
    },
  },
  reachable: {
    sent: 'a valid delivery',
    expected: 'an answer of a route that takes POST',
    clause: '6 Delivery: method POST, 5 seconds',
    effects: null,
    async run(bench) {
      const answer = await bench.send(await bench.deliveries.good(bench.payment()))
      const judged = (cause: Judgement['cause']): Judgement => ({
        verdict: cause === null ? 'pass' : 'fail',
        cause,
        answers: [answer],
        note: answer.errorCode ?? undefined,
      })
      if (answer.status === 404) return judged('route-missing')
      if (answer.status === 405) return judged('post-rejected')
      const transport = transportCause(answer, bench.timeoutMs)
      return judged(transport === 'redirects' || transport === 'rate-limited' ? null : transport)
    },
  },
  redirect: {
    sent: 'a valid delivery',
    expected: 'no 3xx',
    clause: anyOther,
    effects: null,
    async run(bench) {
      const answer = await bench.send(await bench.deliveries.good(bench.payment()))
      const isRedirect = transportCause(answer, bench.timeoutMs) === 'redirects'
      if (!isRedirect) return { verdict: 'pass', cause: null, answers: [answer] }
      const note = answer.location === null ? 'without a location' : `to ${toReadable(answer.location)}`
      return { verdict: 'fail', cause: 'redirects', answers: [answer], note }
    },
  },
} satisfies ProbeTable

export const lastProbes = {
  'answer-time': {
    sent: 'nothing: the slowest accepted delivery counts',
    expected: 'half of the time that the service waits',
    clause: '6 Delivery and 8: the service gives up after 5 seconds',
    effects: 0,
    async run({ timeoutMs }: Bench, earlierAnswers): Promise<Judgement> {
      const slowest = Math.max(0, ...earlierAnswers.filter(isAccepted).map(({ ms }) => ms))
      const note = `${slowest} ms of ${timeoutMs} ms`
      return slowest > timeoutMs / 2
        ? { verdict: 'warn', cause: 'slow-answer', answers: [], note }
        : { verdict: 'pass', cause: null, answers: [], note }
    },
  },
  'still-good': {
    sent: 'a valid delivery after all others',
    expected: '2xx',
    clause: anyOther,
    effects: 1,
    async run(bench) {
      const answer = await bench.send(await bench.deliveries.good(bench.payment()))
      const judgement = judgeAccepted([answer], 'unstable', bench.timeoutMs)
      return answer.status === null ? { ...judgement, cause: 'unstable' } : judgement
    },
  },
} satisfies ProbeTable

/** The target of a redirect, shortened, without query and control characters. */
function toReadable(location: string): string {
  return (location.split(/[?#]/, 1)[0] ?? '').replace(/[^!-~]/g, '').slice(0, 200)
}

const unreadBytes = 65_536
const largeBytes = 1_048_576

/** A body of blanks, with an invented signature. */
async function buildJunk(bench: Bench, bytes: number): Promise<SignedDelivery> {
  const { body, t } = await bench.sign(`{"junk":"${' '.repeat(bytes)}"}`)
  return bench.deliver(body, `t=${t},v1=${'5e'.repeat(32)}`)
}

function requireSockets({ sockets }: Bench): Sockets {
  if (sockets === null) throw new TypeError('This probe needs connections of its own.')
  return sockets
}

/** Adds the number of reused connections. A connection that ends early gets the cause `connection-not-reusable`. */
function judgeReuse(judgement: Judgement): Judgement {
  const reused = judgement.answers.filter((answer) => answer.reused).length
  const note = reused === 0 ? 'the receiver closes each connection' : `${reused} on a reused connection`
  const isReset = judgement.cause === 'connection-reset' || judgement.cause === 'not-http'
  return { ...judgement, note, cause: isReset ? 'connection-not-reusable' : judgement.cause }
}

export const connectionProbes = {
  'keep-alive': {
    sent: 'three valid deliveries on one HTTP/1.1 connection',
    expected: '2xx',
    clause: anyOther,
    effects: 3,
    needsSockets: true,
    async run(bench) {
      const deliveries = await Promise.all([1, 2, 3].map(() => bench.deliveries.good(bench.payment())))
      const answers = await requireSockets(bench).sendOnOneConnection(deliveries)
      return judgeReuse(judgeAccepted(answers, 'connection-not-reusable', bench.timeoutMs))
    },
  },
  'keep-alive-after-rejection': {
    sent: 'a forged delivery of 64 KiB, then a valid one on the same connection',
    expected: '4xx, then 2xx',
    clause: anyOther,
    effects: 1,
    needsSockets: true,
    async run(bench) {
      const deliveries = [await buildJunk(bench, unreadBytes), await bench.deliveries.good(bench.payment())]
      const answers = await requireSockets(bench).sendOnOneConnection(deliveries)
      const after = judgeAccepted(answers.slice(1), 'connection-not-reusable', bench.timeoutMs)
      const rejection = judgeRejected(answers.slice(0, 1), 'presence-only', bench.timeoutMs)
      const worse = after.verdict === 'fail' || rejection.verdict === 'pass' ? after : rejection
      return judgeReuse({ ...worse, answers })
    },
  },
  'large-body': {
    sent: 'a forged body of 1 MiB',
    expected: '4xx in time',
    clause: '6 Delivery: the service gives up after 5 seconds',
    effects: 0,
    async run(bench) {
      const answer = await bench.send(await buildJunk(bench, largeBytes))
      const judgement = judgeRejected([answer], 'presence-only', bench.timeoutMs)
      return judgement.cause === 'slow-answer' ? { ...judgement, cause: 'large-body' } : judgement
    },
  },
  'in-pieces': {
    sent: 'a valid delivery in three pieces',
    expected: '2xx',
    clause: '6 signature rule 1: over the whole body',
    effects: 1,
    needsSockets: true,
    async run(bench) {
      const send = async () => requireSockets(bench).sendInPieces(await bench.deliveries.good(bench.payment()))
      const first = await send()
      // A server that restarts after the earlier large body, such as wrangler's, answers 5xx once.
      const answer = Number(first.status) >= 500 ? await send() : first
      return judgeAccepted([answer], 'reads-first-piece', bench.timeoutMs)
    },
  },
  'broken-upload': {
    sent: 'half of a body, then a broken connection; then a valid delivery',
    expected: '2xx',
    clause: anyOther,
    effects: 1,
    needsSockets: true,
    async run(bench) {
      await requireSockets(bench).breakUpload(await bench.deliveries.good(bench.payment()))
      const answer = await bench.send(await bench.deliveries.good(bench.payment()))
      const judgement = judgeAccepted([answer], 'breaks-after-upload', bench.timeoutMs)
      const isGone = !isAccepted(answer) && answer.status === null && judgement.cause !== 'slow-answer'
      return isGone ? { ...judgement, cause: 'breaks-after-upload' } : judgement
    },
  },
} satisfies ProbeTable
