import { spawnSync } from 'node:child_process'
import v8 from 'node:v8'
import { afterEach, expect, it, vi } from 'vitest'
import { getTempConfig } from '../../test/support/temp-server.js'
import { openService } from './open-service.js'

afterEach(() => vi.restoreAllMocks())

/** The V8 flags that are set while a service is opened and closed. */
async function toldBy(options: Parameters<typeof openService>[1]): Promise<string[]> {
  const setFlags = vi.spyOn(v8, 'setFlagsFromString').mockReturnValue()
  const { close } = await openService(await getTempConfig(), options)
  await close()
  return setFlags.mock.calls.map(([flag]) => flag)
}

it('a dedicated process bounds its heap, by a flag that this V8 knows', async () => {
  const told = await toldBy({ ownsProcess: true })
  expect(told).toEqual(['--heap-growing-percent=100'])
  expect(spawnSync(process.execPath, [...told, '--eval', '']).status).toBe(0)
})

it('the heap of a host process is not changed', async () => {
  expect(await toldBy({})).toEqual([])
})
