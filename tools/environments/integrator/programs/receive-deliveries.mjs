/**
 * A receiver over the memory store: valid, repeated, superseded, forged, stale, concurrent and once failing deliveries.
 * @module
 */
import { getVerdict } from './verdict.mjs'

const secret = 'whsec_of_the_environments'
const clock = { now: () => 1_700_000_000_000 }

export async function* receiveDeliveries({ webhook, webhookTesting, versionStore }) {
  const { createTestDelivery, createTestSnapshot } = webhookTesting
  const handled = []
  let isFailing = false
  const { verify } = webhook.createVerifier({ secrets: ['whsec_that_comes_next', secret], clock })
  const { receive, accept } = versionStore.createReceiver({
    verify,
    store: versionStore.createMemoryVersionStore(),
    handle: ({ version, state }) => {
      if (isFailing) throw new Error('the shop is closed')
      handled.push(`v${version} ${state}`)
    },
  })
  const txHash = (payment) => `0x${String(payment).padStart(64, '0')}`
  const makeDelivery = ({ version = 1, payment = 1, ...options } = {}) => {
    const snapshot = createTestSnapshot({ version, state: 'success', txHash: txHash(payment) })
    return createTestDelivery({ secret, clock, snapshot, ...options })
  }
  const judge = async (fact, expected, delivery) => {
    const { verdict, value } = await getVerdict(receive(delivery))
    const actual = value ? `${value.decision} secret ${value.secretIndex} age ${value.ageSeconds}` : verdict
    return `${actual.startsWith(expected) ? 'right' : 'WRONG'} ${fact}: ${actual}`
  }

  yield await judge('a first version', 'apply secret 1 age 0', await makeDelivery())
  yield await judge('the same again', 'duplicate', await makeDelivery())
  yield await judge('a newer one', 'apply', await makeDelivery({ version: 3 }))
  yield await judge('a superseded one', 'stale', await makeDelivery({ version: 2 }))
  yield await judge(
    'the last second of the window',
    'apply secret 1 age 300',
    await makeDelivery({ version: 4, ageSeconds: 300 }),
  )
  yield await judge('the next second', 'ERR_', await makeDelivery({ version: 5, ageSeconds: 301 }))
  yield await judge('one from the future', 'ERR_', await makeDelivery({ version: 5, ageSeconds: -301 }))
  for (const fault of ['forged', 'tampered', 'unsigned'])
    yield await judge(`a ${fault} one`, 'ERR_', await makeDelivery({ version: 6, fault }))

  const signed = await makeDelivery({ version: 7 })
  const asText = { headers: signed.headers, body: new TextDecoder().decode(signed.body) }
  yield await judge('text', 'apply', asText)
  const asBuffer = await makeDelivery({ version: 8 })
  yield await judge('an ArrayBuffer', 'apply', { ...asBuffer, body: asBuffer.body.slice().buffer })
  const url = 'https://shop.example/webhook'
  const asRequest = await makeDelivery({ version: 9 })
  yield await judge('a Request', 'apply', new Request(url, { method: 'POST', ...asRequest }))
  const consumed = new Request(url, { method: 'POST', ...(await makeDelivery({ version: 10 })) })
  await consumed.text()
  yield await judge('a Request that was read before', 'ERR_', consumed)
  const upperCase = await makeDelivery({ version: 10 })
  const upperCaseHeaders = Object.fromEntries(
    Object.entries(upperCase.headers).map(([name, value]) => [name.toUpperCase(), value]),
  )
  yield await judge('headers in capitals', 'apply', { ...upperCase, headers: upperCaseHeaders })
  yield await judge('Headers', 'duplicate', { ...upperCase, headers: new Headers(upperCase.headers) })

  isFailing = true
  const retried = await makeDelivery({ payment: 2 })
  const { verdict } = await getVerdict(receive(retried))
  yield `${verdict.includes('the shop is closed') ? 'right' : 'WRONG'} a handler that throws: ${verdict}`
  isFailing = false
  yield await judge('its retry', 'apply', retried)
  const copies = await makeDelivery({ payment: 3 })
  const decisions = await Promise.all(Array.from({ length: 20 }, async () => (await receive(copies)).decision))
  const winners = decisions.filter((decision) => decision === 'apply').length
  yield `${winners === 1 ? 'right' : 'WRONG'} twenty copies at once: ${winners} applied`
  const fetched = await accept(createTestSnapshot({ version: 11, state: 'success', txHash: txHash(1) }))
  yield `${fetched === 'apply' ? 'right' : 'WRONG'} a snapshot from the read API: ${fetched}`
  yield `handled ${handled.join(', ')}`
}
