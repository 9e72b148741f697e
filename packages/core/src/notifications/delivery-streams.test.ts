import { expect, test } from 'vitest'
import { manualClock } from '../../test/support/manual-clock.js'
import { getOutbox } from '../../test/support/outbox.js'
import { recordingLogger } from '../../test/support/recording-logger.js'
import { openStore } from '../../test/support/store.js'
import { hashOf } from '../../test/support/stored-payment.js'
import { parseMasterKey } from '../secrets/keys.js'
import { createDeliveryStreams } from './streams.js'

const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}`

function streams(store = openStore()) {
  const clock = manualClock()
  const { open, close } = createDeliveryStreams({
    store,
    authenticate: async () => ({ integrationAddress: address(1) }),
    openSecret: () => 'the-signing-secret',
    keys: parseMasterKey('00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f'),
    clock,
    logger: recordingLogger(),
  })
  return {
    close,
    openStream: open,
    /** Opens a stream. Returns the function that ends it; null: a limit is reached. */
    open(integrationAddress: string) {
      const end = new AbortController()
      const request = { integrationAddress, authorization: null, lastEventId: null, since: null, signal: end.signal }
      return open(request) === null ? null : () => end.abort()
    },
  }
}

test('a process has 100 streams at most, until one of them ends', () => {
  const { open, close } = streams()
  const ends = Array.from({ length: 100 }, (_, n) => open(address(n % 20)))
  expect(ends.filter((end) => end === null)).toEqual([])
  const other = address(20)
  expect(open(other)).toBeNull()
  ends[0]?.()
  ends[0]?.()
  expect(open(address(1))).toBeNull()
  expect(open(other)).not.toBeNull()
  expect(open(other)).toBeNull()
  close()
  expect(open(other)).toBeNull()
})

test('a stream begins with the first delivery created since a time, although ids and times differ in order', async () => {
  let now = 2_000
  const store = openStore({ clock: { now: () => now } })
  const add = (name: string) => getOutbox(store).add({ name, integrationAddress: address(1) })
  await add('later')
  now = 1_000
  await add('earlier')
  const [authorization, lastEventId, signal] = [null, null, new AbortController().signal]
  const request = { integrationAddress: address(1), authorization, lastEventId, since: '1500', signal }
  const seen: string[] = []
  for await (const message of streams(store).openStream(request) ?? []) {
    if (message.kind === 'live') break
    if (message.kind === 'delivery') seen.push(message.data.txHash)
  }
  expect(seen).toEqual(['later', 'earlier'].map(hashOf))
})
