import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { integrationAddress, startProxy } from './fixtures.js'
import { runReadme } from './run-readme.js'
import { paymentHash, startService } from './service.js'

const getVariables = ({ url, apiSecret }: { url: string; apiSecret: string }) => ({
  PAYMENTS_URL: url,
  INTEGRATION_ADDRESS: integrationAddress,
  API_SECRET: apiSecret,
})

test('the block of the README prints every payment of the service', async () => {
  await using service = await startService()
  await service.index(0, 1)
  await service.update(1, 'success')
  expect(await runReadme('packages/client/README.md', getVariables(service))).toBe(
    `${paymentHash(0)} 1 null 13.37 USDC\n${paymentHash(1)} 2 success 13.37 USDC\n`,
  )
})

test('the block about a proxy reads the service through it', async () => {
  await using service = await startService()
  await service.index(0, 1)
  await using proxy = await startProxy()
  const variables = { ...getVariables(service), HTTPS_PROXY: proxy.url }
  expect(await runReadme('packages/client/README.md', variables, 1)).toBe('1\n')
  expect(proxy.tunnels).toEqual([new URL(service.url).host])
})

test('the block about reconciling repairs, stores its checkpoint, and then finds nothing to repair', async () => {
  await using service = await startService()
  await service.index(0, 1)
  const folder = await mkdtemp(join(tmpdir(), 'payment-integration-readme-'))
  const variables = {
    ...getVariables(service),
    CHECKPOINT_FILE: join(folder, 'checkpoint.json'),
    DATABASE_FILE: join(folder, 'shop.db'),
  }
  try {
    expect(await runReadme('docs/guides/reconcile.md', variables)).toBe('2 missing, 0 stale, 0 failed\n')
    await service.update(1, 'success')
    expect(await runReadme('docs/guides/reconcile.md', variables)).toBe('0 missing, 1 stale, 0 failed\n')
    expect(await runReadme('docs/guides/reconcile.md', variables)).toBe('0 missing, 0 stale, 0 failed\n')
    expect(JSON.parse(readFileSync(variables.CHECKPOINT_FILE, 'utf8'))).toMatchObject({ format: 1, unfinished: [] })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('the block about amounts is exact', async () => {
  expect(await runReadme('docs/guides/compute-with-amounts.md', {})).toBe('12.505 true 12505000n\n12.50 12.5\n')
})
