import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { sharing } from '../../test/support/config-problems.js'
import { getTempConfig } from '../../test/support/temp-server.js'
import type { Config } from '../config/config.js'
import { openService } from './open-service.js'

const address = `0x${'7'.repeat(40)}`

type Service = Awaited<ReturnType<typeof openService>>['service']

async function withService<T>(config: Config, work: (service: Service) => Promise<T>): Promise<T> {
  const { service, close } = await openService(config)
  try {
    return await work(service)
  } finally {
    await close()
  }
}
const emailKey = async (service: Service) => service.identity?.emailKey('somebody@example.com')

it('after secrets are rotated one by one, the old master key of e-mail addresses is required until they are resealed', async () => {
  const old = await getTempConfig(sharing)
  const newKey = randomBytes(32).toString('hex')
  const both = { ...old, masterKey: `${newKey},${old.masterKey}` }
  const alone = { ...old, masterKey: newKey }
  const stored = await withService(old, async (service) => {
    await service.integrations.create({ address })
    return emailKey(service)
  })
  await withService(both, async ({ integrations }) => {
    await integrations.rotateApiSecret(address, { graceMs: 0 })
    await integrations.prepareSigningSecret(address)
    await integrations.activateSigningSecret(address, { graceMs: 0 })
  })
  await expect(openService(alone)).rejects.toMatchObject({
    code: 'ERR_MASTER_KEY_MISSING',
    message: expect.stringMatching(/data_keys.*secrets reseal/s),
  })
  expect(await withService(both, ({ integrations }) => integrations.resealSecrets())).toMatchObject({ dataKeys: 1 })
  expect(await withService(alone, emailKey)).toBe(stored)
})
