import { expect, test } from 'vitest'
import { manualClock } from '../../test/support/manual-clock.js'
import { recordingLogger } from '../../test/support/recording-logger.js'
import { openStore } from '../../test/support/store.js'
import { parseMasterKey } from '../secrets/master-key.js'
import { createDeliveryStreams } from './delivery-streams.js'

const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}`

function streams() {
  const clock = manualClock()
  const { open, close } = createDeliveryStreams({
    store: openStore({ now: clock.now }),
    authenticate: async () => null,
    openSecret: () => 'the-signing-secret',
    keys: parseMasterKey('00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f'),
    clock,
    logger: recordingLogger(),
  })
  return {
    close,
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

test('an integration has 5 streams at most, whatever the others have', () => {
  const { open } = streams()
  const ends = Array.from({ length: 5 }, () => open(address(1)))
  expect(open(address(1))).toBeNull()
  expect(open(address(2))).not.toBeNull()
  ends[4]?.()
  expect(open(address(1))).not.toBeNull()
  expect(open(address(1))).toBeNull()
})

test('a clock that is set back by hours delays no heartbeat', async () => {
  const clock = manualClock()
  const { now } = clock
  clock.now = () => now() + 3 * 60 * 60_000
  const { open } = createDeliveryStreams({
    store: openStore({ now: clock.now }),
    authenticate: async () => ({ integrationAddress: address(1) }),
    openSecret: () => 'the-signing-secret',
    keys: parseMasterKey('00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f'),
    clock,
    logger: recordingLogger(),
  })
  const end = new AbortController()
  const request = { authorization: null, lastEventId: null, since: null, signal: end.signal }
  const messages = open({ ...request, integrationAddress: address(1) })?.[Symbol.asyncIterator]()
  const kinds: unknown[] = []
  const read = () => void messages?.next().then(({ value }) => kinds.push(value?.kind))
  for (const expected of [['ready'], ['ready', 'live']]) {
    read()
    await clock.advance(1_000)
    expect(kinds).toEqual(expected)
  }
  clock.now = now
  read()
  await clock.advance(5_000)
  expect(kinds).toEqual(['ready', 'live', 'heartbeat'])
  end.abort()
})
