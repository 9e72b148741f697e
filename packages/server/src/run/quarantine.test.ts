import type { QuarantinedLog } from '@payment-integration/chain-evm'
import { type ServiceEvent, silentLogger } from '@payment-integration/core'
import { describe, expect, it } from 'vitest'
import { createQuarantineReport } from './open-service.js'

const log: QuarantinedLog = {
  chainId: 137,
  txHash: `0x${'12'.repeat(32)}`,
  blockNumber: 7,
  logIndex: 3,
  router: { address: `0x${'ee'.repeat(20)}`, version: '0.8' },
  reason: 'the data was cut',
}

function quarantine(onEvent: (event: ServiceEvent) => void = () => undefined) {
  const warnings: object[] = []
  const errors: object[] = []
  const published: ServiceEvent[] = []
  const logger = {
    ...silentLogger,
    warn: (fields: object) => void warnings.push(fields),
    error: (fields: object) => void errors.push(fields),
  }
  const publish = (event: ServiceEvent) => {
    published.push(event)
    onEvent(event)
  }
  return { onQuarantine: createQuarantineReport(logger, publish), warnings, errors, published }
}

describe('createQuarantineReport', () => {
  it('reports a log once, however often its range is read', () => {
    const { onQuarantine, warnings, published } = quarantine()
    onQuarantine(log)
    onQuarantine({ ...log })
    const { router, ...facts } = log
    expect(published).toEqual([{ type: 'log.quarantined', ...facts }])
    expect(warnings).toEqual([{ ...facts, router: router.address }])
  })

  it.each([{ chainId: 1 }, { txHash: '0xab' }, { logIndex: 4 }, { blockNumber: 8 }])(
    'treats a log with %j as another one',
    (change) => {
      const { onQuarantine, published } = quarantine()
      onQuarantine(log)
      onQuarantine({ ...log, ...change })
      expect(published).toHaveLength(2)
    },
  )

  it('catches the error of a sink, and logs it', () => {
    const { onQuarantine, warnings, errors } = quarantine(() => {
      throw new Error('CANARY')
    })
    expect(() => onQuarantine(log)).not.toThrow()
    expect(warnings).toHaveLength(1)
    expect(errors).toMatchObject([{ eventType: 'log.quarantined', error: 'Error' }])
    expect(JSON.stringify(errors)).not.toContain('CANARY":')
  })
})
