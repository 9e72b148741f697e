import { expect, test } from 'vitest'
import { scriptedProvider } from '../../test/support/scripted-provider.js'
import { untilStopped } from './until-stopped.js'

const stopped = { kind: 'unavailable', reason: 'ERR_STOPPING' }

/** A provider that never answers. */
function silentProvider() {
  const provider = scriptedProvider()
  provider.pause = () => new Promise(() => undefined)
  return provider
}

test('a question under way ends when the signal aborts, and the next one is not asked', async () => {
  const provider = silentProvider()
  const stopping = new AbortController()
  const asked = untilStopped(provider, () => stopping.signal)
  const underWay = [asked.review('a'), asked.find('b')]
  stopping.abort()
  expect(await Promise.all(underWay)).toEqual([stopped, stopped])
  expect(await asked.review('c')).toEqual(stopped)
  expect(provider.calls).toEqual(['review a', 'find b'])
})

test('before there is a signal, and while it has not aborted, the provider answers', async () => {
  const provider = scriptedProvider()
  let signal: AbortSignal | undefined
  const asked = untilStopped(provider, () => signal)
  expect(await asked.review('a')).toMatchObject({ kind: 'answer' })
  signal = new AbortController().signal
  expect(await asked.find('b')).toEqual({ kind: 'answer', value: null })
})
