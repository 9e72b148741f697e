import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { buildLegacyExample } from './clients.js'
import type { Demo } from './demo.js'
import type { DemoEvent, VerifiedEvent } from './demo-events.js'
import { createEventOrder } from './printer.js'
import { createNudge, judge, type RunEnd, runSession } from './session.js'
import { createPaymentTracker } from './watch.js'

const plan = { everyMs: 0, payments: 2, seed: 1 }
const io = { now: () => 0, sleep: async () => {} }

/** A demo in which everything happens at once, changed where a test wants it otherwise. */
function demo(changes: Partial<Pick<Demo, 'pay' | 'sendUpdate' | 'compare'>> = {}) {
  const tracker = createPaymentTracker()
  const legacyAccess = { serviceUrl: 'http://service', legacyApiKey: 'key', chainId: 31_337, currency: 'USD' }
  const versions = new Map<string, number>()
  const settle = (txHash: string, version: number) => {
    versions.set(txHash, version)
    tracker.sawStored(txHash, version, '')
    tracker.sawDelivery({ deliveryId: '1', txHash, version, attempt: 1, latencyMs: 1, outcome: 'delivered' })
    return version
  }
  const built: Demo = {
    chainId: '31337',
    folder: '/tmp/demo',
    tokenSymbol: 'USDC',
    exitReason: new Promise(() => {}),
    tracker,
    async pay({ number }) {
      tracker.sawIndexed(`0x${number}`)
      settle(`0x${number}`, 1)
      return `0x${number}`
    },
    sendUpdate: async ({ txHash }) => settle(txHash, (versions.get(txHash) ?? 0) + 1),
    compare: async () => ({ difference: null, state: 'success' }),
    ...{ replayLast: async () => '', retryNow: async () => '', commands: () => '', openConsole: async () => '' },
    ...{ relay: undefined, doctor: undefined },
    legacyExample: (txHash, payment) => buildLegacyExample(legacyAccess, txHash, payment),
    ...changes,
  }
  return built
}

async function run(changes: Parameters<typeof demo>[0] = {}, signal = new AbortController().signal) {
  const events: DemoEvent[] = []
  const stage = createEventOrder((event) => events.push(event), io)
  return { events, result: await runSession(demo(changes), plan, stage, io, signal) }
}

describe('runSession', () => {
  it('shows the legacy API once, with the payment that was verified first', async () => {
    const { events } = await run()
    const first = events.find(({ event }) => event === 'payment.verified') as VerifiedEvent
    const ready = events.filter(({ event }) => event === 'legacy.ready')
    expect(ready).toMatchObject([{ txHash: first.txHash, lookupUrl: `http://service/api/v1/tx/31337/${first.txHash}` }])
    expect(events.indexOf(ready[0] as DemoEvent)).toBeGreaterThan(events.indexOf(first))
  })

  it('continues after a payment that could not be made', async () => {
    const pay: Demo['pay'] = ({ number }) => Promise.reject(new Error(`no gas for ${number}`))
    const { result } = await run({ pay })
    const problems = [1, 2].map((number) => `Payment ${number} could not be made: no gas for ${number}`)
    expect(result).toMatchObject({ payments: 0, problems })
  })

  it('reports a disagreement between the API and the receiver, and counts nothing as verified', async () => {
    const compare = async () => ({ difference: 'They disagree.', state: 'success' })
    const { result, events } = await run({ compare })
    expect(result).toMatchObject({ verified: 0, problems: ['Payment 1: They disagree.', 'Payment 2: They disagree.'] })
    expect(events.filter(({ event }) => event === 'problem')).toHaveLength(2)
    expect(events.filter(({ event }) => event === 'legacy.ready')).toEqual([])
  })

  it('reports errors of the processor and the reader', async () => {
    const sendUpdate = () => Promise.reject(new Error('The service answered 503.'))
    const problems = [1, 2].map((number) => `Payment ${number}: The service answered 503.`)
    expect((await run({ sendUpdate })).result.problems).toEqual(problems)
    const compare = () => Promise.reject(new Error('not found'))
    expect((await run({ compare })).result.problems).toContain('Payment 2: not found')
  })

  it('reports the step that each unfinished payment waits for when the signal comes', async () => {
    const stop = new AbortController()
    const sendUpdate = async () => {
      queueMicrotask(() => stop.abort())
      return 9
    }
    const { result } = await run({ sendUpdate }, stop.signal)
    expect(result).toMatchObject({ verified: 0, problems: [] })
    expect(result.unfinished[0]).toBe('Payment 1 still waits for the update to success.')
  })

  it('never reports a verified payment as unfinished', async () => {
    const stop = new AbortController()
    const stage = createEventOrder(({ event }) => event === 'payment.verified' && stop.abort(), io)
    const result = await runSession(demo(), { ...plan, payments: 1 }, stage, io, stop.signal)
    expect(result).toEqual({ payments: 1, verified: 1, problems: [], unfinished: [] })
  })
})

it('a session goes on after fifty unfinished payments: each journey has its time limit', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const stop = new AbortController()
  const silent = demo({ sendUpdate: async () => 9 })
  const pay: Demo['pay'] = async ({ number }) => {
    silent.tracker.sawIndexed(`0x${number}`)
    if (number === 120) stop.abort()
    return `0x${number}`
  }
  const stage = createEventOrder(() => undefined, io)
  const running = runSession({ ...silent, pay }, { ...plan, payments: 200 }, stage, io, stop.signal)
  await vi.advanceTimersByTimeAsync(200_000)
  expect(await running).toMatchObject({ payments: 120, verified: 0 })
})

it('a nudge ends the running wait, or the next one, and no other', async () => {
  const nudge = createNudge()
  const waits: boolean[] = []
  const sleep = async (ms: number, stop?: AbortSignal) => {
    // The pauses between the updates of a payment are longer.
    if (ms > plan.everyMs) return
    if (waits.length === 1) nudge.nudge()
    waits.push(stop?.aborted === true)
  }
  const signal = new AbortController().signal
  const session = { ...plan, payments: 4, nudge }
  const stage = createEventOrder(() => undefined, io)
  nudge.nudge()
  await runSession(demo(), session, stage, { ...io, sleep }, signal)
  expect(waits).toEqual([true, true, false])
})

const clean = { payments: 3, verified: 3, problems: [], unfinished: [] }
const problem = { ...clean, verified: 2, problems: ['Payment 2: no.'] }
const unfinished = { ...clean, verified: 2, unfinished: ['Payment 3 still waits for the indexer.'] }
const idle: RunEnd = { kind: 'idle' }
const interrupted: RunEnd = { kind: 'interrupted' }
const deadline: RunEnd = { kind: 'deadline', limitMs: 60_000 }
const chainExited: RunEnd = { kind: 'exited', reason: 'The chain ended.' }

describe('judge', () => {
  it.each([
    ['idle and clean', idle, clean, 0, []],
    ['idle with a problem', idle, problem, 1, ['Payment 2: no.']],
    ['interrupted', interrupted, clean, 1, ['Interrupted before every payment was verified.']],
    ['deadline', deadline, unfinished, 1, ['The deadline of 60 s passed.', ...unfinished.unfinished]],
    ['lost', chainExited, unfinished, 1, ['The chain ended.', ...unfinished.unfinished]],
  ] as const)('--until-idle, %s', (_name, ending, result, exitCode, reasons) => {
    expect(judge(ending, result, true)).toEqual({ exitCode, reasons })
  })

  it.each([
    ['interrupted', interrupted, clean, 0, []],
    ['interrupted while payments are unfinished', interrupted, unfinished, 0, []],
    ['interrupted after a problem', interrupted, problem, 0, ['Payment 2: no.']],
    ['lost', chainExited, clean, 1, ['The chain ended.']],
  ] as const)('without --until-idle, %s', (_name, ending, result, exitCode, reasons) => {
    expect(judge(ending, result, false)).toEqual({ exitCode, reasons })
  })
})
