/** A system whose store calls wait for each other, as for a lock: several commit between two views. @module */
import type { Service, Surroundings, SystemUnderTest } from '../system-under-test.js'

const longestWaitMs = 1_000

/** Every second store call waits until the next one comes. */
export function queued(system: SystemUnderTest): SystemUnderTest {
  let calls = 0
  const waiting: (() => void)[] = []
  const start = async (surroundings: Surroundings): Promise<Service> => {
    const { clock, pause } = surroundings
    let isKilled = false
    const service = await system.start({
      ...surroundings,
      async pause(point) {
        await pause(point)
        if (!point.startsWith('before') || /redeem|find|review/.test(point)) return
        calls += 1
        if (calls % 2 === 1) {
          const next = new Promise<void>((resolve) => waiting.push(resolve))
          await Promise.race([next, clock.sleep(longestWaitMs)])
        } else {
          for (const resolve of waiting.splice(0)) resolve()
        }
        if (isKilled) await new Promise(() => {})
      },
    })
    return {
      ...service,
      async kill() {
        isKilled = true
        await service.kill()
      },
    }
  }
  return { ...system, start }
}
