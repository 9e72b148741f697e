/** Probes near the ends of the freshness window: they only warn. Source: docs/interface.md 6, 8. @module */
import type { SignedDelivery } from '../../deliveries/create-deliveries.js'
import type { Bench } from '../bench.js'
import { judgeAccepted, judgeRejected } from '../judge.js'
import type { DoctorProbeName } from '../probe-names.js'
import type { Judgement } from '../report.js'
import type { ProbeSpec } from './probe.js'

const clause = '6 signature rule 5 and 8: the recommended tolerance is 300 seconds'
/** Seconds beyond the window; the clocks may differ by half a minute. */
const beyond = 330
/** Seconds within the window. */
const within = 240

type Make = (bench: Bench) => Promise<SignedDelivery>

/** Probes of the window's ends. */
export const windowProbes: readonly ProbeSpec[] = [
  outside('just-stale', `a signature of ${beyond} seconds ago`, ({ deliveries, payment }) =>
    deliveries.stale(payment(), beyond),
  ),
  outside('just-future', `a signature of ${beyond} seconds ahead`, ({ deliveries, payment }) =>
    deliveries.future(payment(), beyond),
  ),
  inside('slightly-old', `a signature of ${within} seconds ago`, ({ deliveries, payment }) =>
    deliveries.stale(payment(), within),
  ),
  inside('slightly-ahead', `a signature of ${within} seconds ahead`, ({ deliveries, payment }) =>
    deliveries.future(payment(), within),
  ),
]

function outside(name: DoctorProbeName, sent: string, make: Make): ProbeSpec {
  const run = async (bench: Bench) =>
    warning(judgeRejected([await bench.send(await make(bench))], 'window-wide', bench.timeoutMs))
  return { name, sent, expected: '4xx', clause, effects: null, run }
}

function inside(name: DoctorProbeName, sent: string, make: Make): ProbeSpec {
  const run = async (bench: Bench) =>
    warning(judgeAccepted([await bench.send(await make(bench))], 'window-narrow', bench.timeoutMs))
  return { name, sent, expected: '2xx', clause, effects: null, run }
}

/** The tolerance is recommended, not required. */
function warning(judgement: Judgement): Judgement {
  return judgement.verdict === 'fail' && judgement.cause?.startsWith('window-')
    ? { ...judgement, verdict: 'warn' }
    : judgement
}
