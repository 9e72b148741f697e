/** Probes of the content type. Source: docs/interface.md 6, delivery. @module */
import type { SignedDelivery } from '../../deliveries/create-deliveries.js'
import { isAccepted, judgeAccepted, judgeRejected, transportCause } from '../judge.js'
import type { ProbeSpec } from './probe.js'
import { sendInTurn } from './probe.js'

const header = 'Content-Type'

/** With another content type; null omits it. */
function typed({ headers, body }: SignedDelivery, contentType: string | null): SignedDelivery {
  const { [header]: _, ...rest } = headers
  return { headers: contentType === null ? rest : { ...rest, [header]: contentType }, body }
}

/** Probes of content types. */
export const contentTypeProbes: readonly ProbeSpec[] = [
  {
    name: 'charset',
    sent: 'application/json; charset=utf-8',
    expected: '2xx, or 4xx with a warning',
    clause: '6 Delivery: Content-Type application/json',
    effects: 1,
    async run(bench) {
      const delivery = typed(await bench.deliveries.good(bench.payment()), 'application/json; charset=utf-8')
      const judgement = judgeAccepted([await bench.send(delivery)], 'content-type-exact', bench.timeoutMs)
      if (judgement.cause !== 'content-type-exact') return judgement
      const isServerError = judgement.answers.some(({ status }) => Number(status) >= 500)
      return isServerError ? { ...judgement, cause: 'fails-on-content-type' } : { ...judgement, verdict: 'warn' }
    },
  },
  {
    name: 'other-content-type',
    sent: 'a valid and a forged delivery as text/plain, and both without a content type',
    expected: 'valid: 2xx or 4xx; forged: 4xx',
    clause: '6 signature rule 2: verify before anything else',
    effects: null,
    async run(bench) {
      const good = await bench.deliveries.good(bench.payment())
      const forged = await bench.deliveries.forged(bench.payment())
      const types = ['text/plain', null]
      const ofForged = await sendInTurn(
        bench,
        types.map((type) => typed(forged, type)),
      )
      const ofGood = await sendInTurn(
        bench,
        types.map((type) => typed(good, type)),
      )
      const answers = [...ofForged, ...ofGood]
      const judgement = judgeRejected(ofForged, 'skips-other-content-types', bench.timeoutMs)
      if (judgement.verdict === 'fail') return { ...judgement, answers }
      const failed = ofGood.find(
        (answer) => !isAccepted(answer) && !(Number(answer.status) >= 400 && Number(answer.status) < 500),
      )
      if (failed === undefined) return { ...judgement, answers }
      return { verdict: 'fail', cause: transportCause(failed, bench.timeoutMs) ?? 'fails-on-content-type', answers }
    },
  },
]
