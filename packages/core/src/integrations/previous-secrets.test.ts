import { expect, test } from 'vitest'
import { getAddress, setUpIntegrations } from '../../test/support/integration-setup.js'

const hour = 60 * 60_000
const shop = getAddress('a1')

test('a rotation that keeps the previous API secret is rejected while that one is valid', async () => {
  const { commands, clock, stored, log } = setUpIntegrations()
  await commands.create({ address: shop })
  const rotate = () => commands.rotateApiSecret(shop, { graceMs: hour, keepsPrevious: true })
  await rotate()
  expect((await commands.get(shop)).previousApiSecretUntil).toBe(clock.now() + hour)
  const before = await stored(shop)
  await expect(rotate()).rejects.toMatchObject({ code: 'ERR_PREVIOUS_API_SECRET' })
  expect(await stored(shop)).toEqual(before)
  await commands.endPreviousApiSecret(shop)
  expect((await commands.get(shop)).previousApiSecretUntil).toBeNull()
  await rotate()
  await clock.advance(hour)
  await rotate()
  expect(log().map(([action]) => action)).toEqual([
    ...['integration.created', 'integration.api_secret_rotated', 'integration.previous_api_secret_ended'],
    ...['integration.api_secret_rotated', 'integration.api_secret_rotated'],
  ])
})

test('a prepared signing secret is shown once when asked so', async () => {
  const { commands } = setUpIntegrations()
  await commands.create({ address: shop })
  const { signingSecret } = await commands.prepareSigningSecret(shop, { isShownAgain: false })
  await expect(commands.prepareSigningSecret(shop, { isShownAgain: false })).rejects.toMatchObject({
    code: 'ERR_SIGNING_SECRET_PREPARED',
  })
  expect(await commands.prepareSigningSecret(shop)).toEqual({ signingSecret, isNew: false })
})

test('the previous signing secret is ended once, before its grace time ends', async () => {
  const { commands, stored, log } = setUpIntegrations()
  await commands.create({ address: shop })
  await expect(commands.endPreviousSigningSecret(shop)).rejects.toMatchObject({ code: 'ERR_NO_PREVIOUS_SECRET' })
  await commands.prepareSigningSecret(shop)
  await commands.activateSigningSecret(shop, { graceMs: hour })
  await commands.endPreviousSigningSecret(shop)
  expect((await stored(shop)).previousSigningSecret).toBeNull()
  await expect(commands.endPreviousSigningSecret(shop)).rejects.toMatchObject({ code: 'ERR_NO_PREVIOUS_SECRET' })
  expect(log().at(-1)).toEqual(['integration.previous_signing_secret_ended', shop, {}])
})

test('an unknown integration is not found', async () => {
  const { commands } = setUpIntegrations()
  for (const work of [commands.get(shop), commands.endPreviousApiSecret(shop), commands.endPreviousSigningSecret(shop)])
    await expect(work).rejects.toMatchObject({ code: 'ERR_INTEGRATION_NOT_FOUND' })
})
