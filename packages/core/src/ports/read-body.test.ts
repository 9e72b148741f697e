import { expect, test } from 'vitest'
import { readRequestBody } from './runtime.js'

/** A request whose body has 100 kB, and the number of pieces that were read of it. */
function long(declared: string) {
  let pieces = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      pieces += 1
      if (pieces > 1_000) controller.close()
      else controller.enqueue(new Uint8Array(100))
    },
  })
  const headers = { 'content-length': declared }
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, headers, duplex: 'half' }
  return { request: new Request('https://pay.example/', init), pieces: () => pieces }
}

test.each(['0x10', '', '1, 2', '-1', '1e1'])(
  'of a body that declares %j bytes no more than the cap is read',
  async (declared) => {
    const { request, pieces } = long(declared)
    await expect(readRequestBody(request, 1_000)).rejects.toMatchObject({ code: 'ERR_BODY_TOO_LARGE' })
    expect(pieces()).toBeLessThan(20)
  },
)

test('a body over the cap is rejected although it declares less', async () => {
  await expect(readRequestBody(long('5').request, 1_000)).rejects.toMatchObject({ code: 'ERR_BODY_TOO_LARGE' })
})
