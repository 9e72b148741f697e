/** A real server on a real database whose secrets are the same in every run. */
import { createHash, createHmac } from 'node:crypto'
import { systemClock } from '@payment-integration/core'
import type { Logger } from '@payment-integration/core/ports'
import { startServer } from '../../src/run/start-server.js'
import type { Values } from './hostile-requests.js'
import { tempConfig } from './temp-config.js'

const processorSecret = 'processor-secret-of-the-corpus'
const address = `0x${'a1'.repeat(20)}`

/** Bytes from a counter: good for a test and nothing else. */
function countedRandom() {
  let counter = 0
  return {
    bytes: (length: number) => createHash('shake256', { outputLength: length }).update(`${counter++}`).digest(),
    fraction: () => 0.5,
  }
}

export async function startHostileServer() {
  const { config, remove } = await tempConfig({ PI_PROCESSOR_SECRETS: processorSecret })
  const logged: { level: string; text: string }[] = []
  const write = (level: string) => (fields: object, message: string) =>
    void logged.push({ level, text: `${message} ${JSON.stringify(fields)}` })
  const logger: Logger = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
  const server = await startServer(config, { random: countedRandom(), logger })
  const { apiSecret } = await server.service.integrations.create({ address })
  const { apiKey } = await server.service.legacyKeys.create()
  const values: Values = {
    address,
    secret: apiSecret,
    legacyKey: apiKey,
    sign(body) {
      const t = Math.floor(systemClock.now() / 1_000)
      return `t=${t},v1=${createHmac('sha256', processorSecret).update(`${t}.`).update(body).digest('hex')}`
    },
  }
  return {
    url: server.url,
    values,
    logged,
    async stop() {
      await server.stop()
      await remove()
    },
  }
}
