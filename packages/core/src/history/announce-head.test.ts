import { expect, test } from 'vitest'
import { manualClock } from '../../test/support/manual-clock.js'
import { recordingLogger } from '../../test/support/recording-logger.js'
import { until } from '../../test/support/until.js'
import type { ServiceEvent } from '../events.js'
import { announceIntervalMs, createHeadAnnouncer } from './audit-log.js'
import type { AuditHead } from './audit-store.js'

const getHead = (seq: number): AuditHead => ({ seq, at: seq, hash: String(seq).padStart(64, '0') })

function running(head: () => Promise<AuditHead | null>) {
  const clock = manualClock()
  const logger = recordingLogger()
  const published: ServiceEvent[] = []
  const stop = new AbortController()
  const announcer = createHeadAnnouncer({
    audit: { head },
    ...{ clock, logger, random: { fraction: () => 1 }, publish: (event) => published.push(event) },
  })
  const ended = announcer.run(stop.signal)
  return { clock, logger, published, ended, stop: () => stop.abort() }
}

test('the newest record is announced at the start and once a day, as it is then', async () => {
  let seq = 1
  const { clock, published, ended, stop } = running(async () => getHead(seq))
  await until('the first one', () => published.length === 1)
  seq = 7
  await clock.advance(announceIntervalMs - 1)
  expect(published).toEqual([{ type: 'audit.head', ...getHead(1) }])
  await clock.advance(1)
  expect(published.slice(1)).toEqual([{ type: 'audit.head', ...getHead(7) }])
  stop()
  await ended
})

test('a database that is away is asked again soon', async () => {
  let isAway = true
  const { clock, logger, published, ended, stop } = running(async () => {
    if (isAway) throw new Error('away')
    return getHead(3)
  })
  await clock.advance(10_000)
  expect(logger.lines).toContainEqual(expect.objectContaining({ level: 'warn' }))
  isAway = false
  await clock.advance(30_000)
  expect(published).toEqual([{ type: 'audit.head', ...getHead(3) }])
  stop()
  await ended
})
