/** Probes of the URL and the way to it, and the last ones. Source: docs/interface.md 6, delivery. @module */

import type { Bench } from '../bench.js'
import { isAccepted, judgeAccepted, transportCause } from '../judge.js'
import type { Judgement } from '../report.js'
import { anyOther, type ProbeSpec } from './probe.js'

/** Hosts to which a development server delivers without TLS. */
const loopback = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/

/** The probe of the URL itself. */
export function urlProbe(url: URL): ProbeSpec {
  return {
    name: 'https-url',
    sent: 'nothing: the URL is examined',
    expected: 'https:, or http: to this machine during development',
    clause: '6 Delivery: the URL must be HTTPS',
    effects: 0,
    async run(): Promise<Judgement> {
      if (url.protocol === 'https:') return { verdict: 'pass', cause: null, answers: [], note: 'https' }
      if (loopback.test(url.hostname))
        return { verdict: 'pass', cause: null, answers: [], note: 'http to this machine, for development only' }
      return { verdict: 'warn', cause: 'url-not-https', answers: [], note: 'http' }
    },
  }
}

/** Probes whose failure ends the run. */
export const reachProbes: readonly ProbeSpec[] = [
  {
    name: 'reachable',
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
  {
    name: 'redirect',
    sent: 'a valid delivery',
    expected: 'no 3xx',
    clause: anyOther,
    effects: null,
    async run(bench) {
      const answer = await bench.send(await bench.deliveries.good(bench.payment()))
      const isRedirect = transportCause(answer, bench.timeoutMs) === 'redirects'
      if (!isRedirect) return { verdict: 'pass', cause: null, answers: [answer] }
      const note = answer.location === null ? 'without a location' : `to ${readable(answer.location)}`
      return { verdict: 'fail', cause: 'redirects', answers: [answer], note }
    },
  },
]

/** The last probes. */
export const lastProbes: readonly ProbeSpec[] = [
  {
    name: 'answer-time',
    sent: 'nothing: the slowest accepted delivery counts',
    expected: 'at most half of the time that the service waits',
    clause: '6 Delivery and 8: the service gives up after 5 seconds',
    effects: 0,
    async run({ timeoutMs }: Bench, seen): Promise<Judgement> {
      const slowest = Math.max(0, ...seen.filter(isAccepted).map(({ ms }) => ms))
      const note = `${slowest} ms of ${timeoutMs} ms`
      return slowest > timeoutMs / 2
        ? { verdict: 'warn', cause: 'slow-answer', answers: [], note }
        : { verdict: 'pass', cause: null, answers: [], note }
    },
  },
  {
    name: 'still-good',
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
]

/** A location without its query and control characters, of bounded length. */
function readable(location: string): string {
  return (location.split(/[?#]/, 1)[0] ?? '').replace(/[^!-~]/g, '').slice(0, 200)
}
