import { describe, expect, it } from 'vitest'
import { testMasterKey } from '../../test/master-key.js'
import { getCommands } from '../../test/run-commands.js'
import { getEvents } from '../../test/test-io.js'

const address = `0x${'a1'.repeat(20)}`
const newKey = 'fedcba9876543210'.repeat(4)

/** A database with an integration and a legacy key under the first master key, and the commands under both keys. */
async function withTwoKeys() {
  const old = getCommands('integrations')
  await old.run('create', address)
  const [issued] = getEvents((await getCommands('legacy-keys', old.env).run('create', '--json')).io)
  const { id } = { ...(issued?.['key'] as object) } as { id: string }
  const both = { ...old.env, PI_MASTER_KEY: `${newKey},${testMasterKey}` }
  const alone = { ...old.env, PI_MASTER_KEY: newKey }
  const reseal = (env: Record<string, string>, ...args: string[]) => getCommands('secrets', env).run('reseal', ...args)
  return { both, alone, id, reseal }
}

describe('secrets reseal', () => {
  it('encrypts signing secrets, and prints which secrets need the older key and how to replace them', async () => {
    const { both, alone, id, reseal } = await withTwoKeys()
    const { exitCode, lines } = await reseal(both)
    expect(exitCode).toBe(0)
    expect(lines).toEqual([
      'Encrypted with the newest master key: 1 signing secret, 0 data keys.',
      '1 API secret needs an older master key, including previous secrets in their grace time.',
      'Rotate each secret, deploy the new one, and run this command again after the grace time:',
      `  payment-integration integrations rotate-secret ${address}`,
      '1 legacy API key needs an older master key.',
      'Create a new key for each caller, then run:',
      `  payment-integration legacy-keys revoke ${id}`,
      'Leave the older keys in PI_MASTER_KEY, after the newest, until this command reports that no secret needs them.',
    ])
    const { exitCode: rejected, err } = await reseal(alone)
    expect(rejected).toBe(1)
    expect(err).toContain('Master keys are missing: integrations.api_secret')
  })

  it('reports when no secret needs the older key, and then works without it', async () => {
    const { both, alone, id, reseal } = await withTwoKeys()
    await reseal(both)
    await getCommands('integrations', both).run('rotate-secret', address, '--grace', '0s')
    await getCommands('legacy-keys', both).run('revoke', id)
    const { lines } = await reseal(both)
    expect(lines).toEqual([
      'All signing secrets and data keys were already encrypted with the newest master key.',
      expect.stringMatching(/^No secret needs an older master key: remove the older keys from PI_MASTER_KEY[.] /),
    ])
    expect(getEvents((await reseal(alone, '--json')).io)).toEqual([
      { event: 'secrets.resealed', resealed: 0, dataKeys: 0, olderApiSecrets: [], olderLegacyKeys: [] },
    ])
  })
})
