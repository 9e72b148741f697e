/** The table of cases that every adapter passes, in its framework. @module */
import { afterEach, describe, test } from 'vitest'
import type { HandlerOptions } from '../../src/adapters/handler-options.js'
import type { WebhookError } from '../../src/errors.js'
import { createVerifier, type Snapshot } from '../../src/exports/index.js'
import { answerCases } from './answer-cases.js'
import { type Bench, secret } from './fixture.js'
import type { Host, Subject } from './host.js'
import { socketCases } from './socket-cases.js'

/** Registers the table for one adapter. */
export function adapterConformance(subject: Subject): void {
  const cases = { ...answerCases, ...(subject.hasNoSocket === true ? {} : socketCases) }
  const excuses = new Map(Object.entries(subject.excuses ?? {}))
  for (const name of excuses.keys())
    if (cases[name] === undefined) throw new RangeError(`"${name}" is no case of the table.`)

  describe(`${subject.name} receives deliveries`, () => {
    const hosts: Host[] = []
    afterEach(async () => {
      for (const host of hosts.splice(0)) await host.close()
    })
    for (const [name, run] of Object.entries(cases)) {
      const bench = (): Bench => {
        const { verify } = createVerifier({ secrets: secret })
        const [snapshots, errors, rejections]: [Snapshot[], unknown[], WebhookError[]] = [[], [], []]
        const told: HandlerOptions = {
          receive: async (delivery) => void snapshots.push((await verify(delivery)).snapshot),
          onError: (error) => errors.push(error),
          onRejection: (rejection) => rejections.push(rejection),
        }
        const start = async (options: Partial<HandlerOptions> = {}, parser = false) => {
          const host = await subject.start({ deadlineMs: 60_000, ...told, ...options }, parser)
          hosts.push(host)
          return host
        }
        return { start, snapshots, errors, rejections, cure: subject.cure }
      }
      const excuse = excuses.get(name)
      if (excuse !== undefined) test.fails(`${name} (cannot: ${excuse})`, { timeout: 1000 }, () => run(bench()))
      else test(name, () => run(bench()))
    }
  })
}
