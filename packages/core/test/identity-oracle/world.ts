/** The processes of a history: their pauses, kills, freezes and operations. @module */
import type { Clock } from '../../src/ports/runtime.js'
import { manualClock } from '../support/manual-clock.js'
import { seededRandom } from '../support/seeded-random.js'
import type { Dice } from './dice.js'
import { type FakeProvider, fakeProvider } from './fake-provider.js'
import { type Call, format, type Operation, perform, seconds } from './operations.js'
import type { Service, Surroundings, SystemUnderTest, View } from './system-under-test.js'

interface Process {
  readonly number: number
  readonly service: Service
  frozen: boolean
}
interface Step {
  readonly process: number
  readonly label: string
  run(): void
}

export interface World {
  readonly clock: { now(): number }
  readonly provider: FakeProvider
  readonly operations: readonly Operation[]
  readonly lines: readonly string[]
  log(line: string): void
  processes(): readonly { readonly number: number; readonly frozen: boolean }[]
  startProcess(): Promise<void>
  /** Nothing of it happens any more. Requests that it sent may still arrive at the provider. */
  kill(process: number): Promise<void>
  freeze(process: number, frozen: boolean): void
  begin(process: number, call: Call): Promise<Operation>
  /** What may happen next, besides frozen processes. */
  steps(): Step[]
  run(step: Step): Promise<void>
  jump(ms: number): Promise<void>
  view(): Promise<View>
}

export function world(options: { seed: string; system: SystemUnderTest; dice: Dice; findsByName: boolean }): World {
  const { seed, system, dice, findsByName } = options
  const manual = manualClock()
  // Every step takes a millisecond, so that no two facts have the same time.
  let ticks = 0
  const clock: Clock = { now: () => manual.now() + ticks, sleep: manual.sleep }
  const provider = fakeProvider({ clock, dice, findsByName })
  const processes = new Map<number, Process>()
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
  const log = (line: string) => lines.push(`${seconds(clock.now())}: ${line}`)
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
    async kill(number) {
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
    freeze(number, frozen) {
      const process = processes.get(number)
      if (process !== undefined) process.frozen = frozen
      log(`process ${number} is ${frozen ? 'frozen' : 'thawed'}`)
    },
    async begin(number, call) {
      ticks += 1
      const process = processes.get(number)
      if (process === undefined) throw new RangeError(`no process ${number}`)
      const operation: Operation = {
        ...{ number: operations.length + 1, process: number, call, calledAt: clock.now() },
        ...{ state: 'running', outcome: undefined },
      }
      operations.push(operation)
      log(`operation ${operation.number} on process ${number}: ${format(call)}`)
      void perform(process.service, call).then(answered(operation, 'done'), answered(operation, 'failed'))
      await system.settle()
      return operation
    },
    steps: () => [...pauses.keys(), ...provider.steps()].filter(({ process }) => alive(process)),
    async run(step) {
      ticks += 1
      log(step.label)
      step.run()
      await system.settle()
    },
    async jump(ms) {
      await manual.advance(ms)
      log(`${ms} ms have passed`)
      await system.settle()
    },
    view: () => system.views(),
  }
}
