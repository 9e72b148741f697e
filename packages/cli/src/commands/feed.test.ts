import { expect, it } from 'vitest'
import { getEvents, testIo } from '../../test/test-io.js'
import { runCli } from '../run-cli.js'

it('publishes until it is stopped, also while no server of the feed answers', async () => {
  const env = { PI_RPC_URL_1: 'http://127.0.0.1:9', PI_CHAIN_FEED_URL: 'nats://127.0.0.1:9', PI_LOG_LEVEL: 'silent' }
  const io = testIo({ env })
  const running = runCli(['feed', 'publish', '--json'], io)
  await io.line((line) => line.includes('"publishing"'))
  io.interrupt()
  expect(await running).toBe(0)
  expect(getEvents(io)).toEqual([{ event: 'publishing', chainIds: [1] }, { event: 'stopped' }])
})

it('fails with every problem of its configuration', async () => {
  const io = testIo({ env: {} })
  expect(await runCli(['feed', 'publish'], io)).toBe(1)
  expect(io.errors.join('\n')).toMatch(/PI_CHAIN_FEED_URL is not set[\s\S]*No PI_RPC_URL_<chainId> is set/)
})
