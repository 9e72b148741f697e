import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { cheapCost, passphrase } from '../../test/support/operator-setup.js'
import { openStore } from '../../test/support/store.js'
import { operatorActor } from '../exports/index.js'
import { parseMasterKey } from '../secrets/keys.js'
import { createService } from '../service.js'

const address = `0x${'a1'.repeat(20)}`
const guide = readFileSync(new URL('../../../../docs/guides/console-and-portal.md', import.meta.url), 'utf8')
const [, block = ''] = /```ts\n(.*?)```/s.exec(guide) ?? []
const AsyncFunction = (async () => {}).constructor as new (...text: string[]) => (...given: unknown[]) => Promise<void>

test('the lines of the guide make an operator, who disables an integration under their own name', async () => {
  const store = openStore({ clock: Date })
  const service = createService({
    store,
    sender: { post: () => Promise.reject(new Error('nothing is sent')) },
    masterKey: parseMasterKey('00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f'),
    passphraseCost: cheapCost,
  })
  await service.integrations.create({ address })
  const lines = block.replace(/^import .*$/m, '')
  expect(lines).toContain('redeemLink')
  await new AsyncFunction('service', 'passphrase', 'address', 'operatorActor', lines)(
    ...[service, passphrase, address, operatorActor],
  )
  expect(store.committed.audit.map(({ actor, action }) => `${actor} ${action}`)).toEqual([
    ...['service integration.created', 'service operator.created', 'operator:alice operator.link_redeemed'],
    ...['operator:alice operator.signed_in', 'operator:alice integration.disabled'],
  ])
})
