/** Probes of connections: reuse, large and broken bodies. Source: docs/interface.md 6, delivery. @module */
import type { SignedDelivery } from '../../deliveries/create-deliveries.js'
import type { Bench } from '../bench.js'
import { isAccepted, judgeAccepted, judgeRejected } from '../judge.js'
import type { Judgement, SocketAnswer } from '../report.js'
import type { Sockets } from '../send.js'
import { anyOther, type ProbeSpec } from './probe.js'

const unreadBytes = 65_536
const largeBytes = 1_048_576

/** A body of blanks with a signature of another secret. */
async function junk(bench: Bench, bytes: number): Promise<SignedDelivery> {
  const { body, t } = await bench.sign(`{"junk":"${' '.repeat(bytes)}"}`, { key: `${bench.signingSecret}.forged` })
  return bench.deliver(body, `t=${t},v1=${'5e'.repeat(32)}`)
}

function socketsOf({ sockets }: Bench): Sockets {
  if (sockets === null) throw new TypeError('This probe needs connections of its own.')
  return sockets
}

/** A connection that ends early is a fault of its own here. */
function onReuse(judgement: Judgement): Judgement {
  const reused = judgement.answers.filter((answer) => answer.reused).length
  const note = reused === 0 ? 'the receiver closes each connection' : `${reused} on a reused connection`
  const isReset = judgement.cause === 'connection-reset' || judgement.cause === 'not-http'
  return { ...judgement, note, cause: isReset ? 'connection-not-reusable' : judgement.cause }
}

/** Probes of connections. */
export const connectionProbes: readonly ProbeSpec[] = [
  {
    name: 'keep-alive',
    sent: 'three valid deliveries on one HTTP/1.1 connection',
    expected: '2xx',
    clause: anyOther,
    effects: 3,
    needsSockets: true,
    async run(bench) {
      const deliveries = await Promise.all([1, 2, 3].map(() => bench.deliveries.good(bench.payment())))
      const answers = await socketsOf(bench).sendOnOneConnection(deliveries)
      return onReuse(judgeAccepted(answers, 'connection-not-reusable', bench.timeoutMs))
    },
  },
  {
    name: 'keep-alive-after-rejection',
    sent: 'a forged delivery of 64 KiB, then a valid one on the same connection',
    expected: '4xx, then 2xx',
    clause: anyOther,
    effects: 1,
    needsSockets: true,
    async run(bench) {
      const deliveries = [await junk(bench, unreadBytes), await bench.deliveries.good(bench.payment())]
      const [first, second] = (await socketsOf(bench).sendOnOneConnection(deliveries)) as [SocketAnswer, SocketAnswer]
      const after = judgeAccepted([second], 'connection-not-reusable', bench.timeoutMs)
      const rejection = judgeRejected([first], 'presence-only', bench.timeoutMs)
      const worse = after.verdict === 'fail' || rejection.verdict === 'pass' ? after : rejection
      return onReuse({ ...worse, answers: [first, second] })
    },
  },
  {
    name: 'large-body',
    sent: 'a forged body of 1 MiB',
    expected: '4xx; no 2xx, and an answer in time',
    clause: '6 Delivery: the service gives up after 5 seconds',
    effects: 0,
    async run(bench) {
      const judgement = judgeRejected(
        [await bench.send(await junk(bench, largeBytes))],
        'presence-only',
        bench.timeoutMs,
      )
      return judgement.cause === 'slow-answer' ? { ...judgement, cause: 'large-body' } : judgement
    },
  },
  {
    name: 'in-pieces',
    sent: 'a valid delivery whose body arrives in three pieces',
    expected: '2xx',
    clause: '6 signature rule 1: over the whole body',
    effects: 1,
    needsSockets: true,
    async run(bench) {
      const send = async () => socketsOf(bench).sendInPieces(await bench.deliveries.good(bench.payment()))
      const first = await send()
      // A server that restarts after the large body before answers 5xx once, as the one of wrangler does.
      const answer = Number(first.status) >= 500 ? await send() : first
      return judgeAccepted([answer], 'reads-first-piece', bench.timeoutMs)
    },
  },
  {
    name: 'broken-upload',
    sent: 'half of a body, then a broken connection; then a valid delivery',
    expected: '2xx',
    clause: anyOther,
    effects: 1,
    needsSockets: true,
    async run(bench) {
      await socketsOf(bench).breakUpload(await bench.deliveries.good(bench.payment()))
      const answer = await bench.send(await bench.deliveries.good(bench.payment()))
      const judgement = judgeAccepted([answer], 'breaks-after-upload', bench.timeoutMs)
      const isGone = !isAccepted(answer) && answer.status === null && judgement.cause !== 'slow-answer'
      return isGone ? { ...judgement, cause: 'breaks-after-upload' } : judgement
    },
  },
]
