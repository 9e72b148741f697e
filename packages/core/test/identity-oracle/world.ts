/** The processes of a history: their pauses, kills, freezes and operations. @module */
import type { Clock } from '../../src/ports/runtime.js'
import { manualClock } from '../support/manual-clock.js'
import { seededRandom } from '../support/seeded-random.js'
import type { Dice } from './dice.js'
import { fakeProvider, type Step } from './fake-provider.js'
import type { Call, Service, Surroundings, SystemUnderTest } from './system-under-test.js'

export interface Operation {
  readonly number: number
  readonly process: number
  readonly call: Call
  readonly calledAt: number
  state: 'running' | 'done' | 'failed' | 'killed'
  /** The outcome, or the reason of the failure. */
  outcome: unknown
}

export type World = ReturnType<typeof world>

export function world(options: { seed: string; system: SystemUnderTest; dice: Dice; findsByName: boolean }) {
  const { seed, system, dice, findsByName } = options
  const manual = manualClock()
  // Every step takes a millisecond, so that no two facts have the same time.
  let ticks = 0
  const clock: Clock = { now: () => manual.now() + ticks, sleep: manual.sleep }
  const provider = fakeProvider({ clock, dice, findsByName })
  const processes = new Map<number, { readonly number: number; readonly service: Service; frozen: boolean }>()
  const operations: Operation[] = []
  const lines: string[] = []
  const pauses = new Map<Step, () => void>()
  let started = 0

  const surroundings = (number: number): Surroundings => {
    let made = 0
    return {
      clock,
      provider: provider.port(number),
      random: seededRandom(`${seed}:${number}`),
      ids: { next: () => `${number}-${++made}` },
      pause: (point) =>
        new Promise((resolve) => {
          const step = {
            process: number,
            label: `process ${number}: ${point}`,
            run() {
              pauses.delete(step)
              resolve()
            },
          }
          pauses.set(step, resolve)
        }),
    }
  }
  const log = (line: string) => lines.push(`${((clock.now() - Date.UTC(2026, 0, 1)) / 1000).toFixed(3)} s: ${line}`)
  const answered = (operation: Operation, state: 'done' | 'failed') => (outcome: unknown) => {
    if (operation.state !== 'running') return
    operation.state = state
    operation.outcome = outcome instanceof Error ? outcome.stack : outcome
    log(`operation ${operation.number} ${state}: ${JSON.stringify(outcome)}`)
  }
  const alive = (number: number) => number < 0 || (processes.has(number) && processes.get(number)?.frozen === false)

  return {
    ...{ clock, provider, operations, lines, log },
    processes: () => [...processes.values()],
    async startProcess() {
      const number = ++started
      processes.set(number, { number, service: await system.start(surroundings(number)), frozen: false })
      log(`process ${number} starts`)
    },
    /** Nothing of it happens any more. Requests that it sent may still arrive at the provider. */
    async kill(number: number) {
      const process = processes.get(number)
      processes.delete(number)
      for (const step of [...pauses.keys()]) if (step.process === number) pauses.delete(step)
      for (const operation of operations) {
        if (operation.process === number && operation.state === 'running') operation.state = 'killed'
      }
      log(`process ${number} is killed`)
      await process?.service.kill()
      await system.settle()
    },
    freeze(number: number, frozen: boolean) {
      const process = processes.get(number)
      if (process !== undefined) process.frozen = frozen
      log(`process ${number} is ${frozen ? 'frozen' : 'thawed'}`)
    },
    async begin(number: number, call: Call) {
      ticks += 1
      const process = processes.get(number)
      if (process === undefined) throw new RangeError(`no process ${number}`)
      const operation: Operation = {
        ...{ number: operations.length + 1, process: number, call, calledAt: clock.now() },
        ...{ state: 'running', outcome: undefined },
      }
      operations.push(operation)
      log(`operation ${operation.number} on process ${number}: ${JSON.stringify(call)}`)
      void process.service.perform(call).then(answered(operation, 'done'), answered(operation, 'failed'))
      await system.settle()
      return operation
    },
    /** What may happen next, besides frozen processes. */
    steps: (): Step[] => [...pauses.keys(), ...provider.steps()].filter(({ process }) => alive(process)),
    async run(step: Step) {
      ticks += 1
      log(step.label)
      step.run()
      await system.settle()
    },
    async jump(ms: number) {
      await manual.advance(ms)
      log(`${ms} ms have passed`)
      await system.settle()
    },
    view: () => system.views(),
  }
}
