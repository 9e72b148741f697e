/** Reads server-sent events over real HTTP. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'

export type EventStream = Awaited<ReturnType<typeof openEvents>>

/** Opens a stream; it resolves with the answer's head. */
export async function openEvents(url: string, headers: Record<string, string>) {
  const sent = request(url, { headers, agent: false }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  sent.on('error', () => undefined)
  // biome-ignore lint/suspicious/noExplicitAny: tests read fields of any event.
  const events: { readonly event: string; readonly id: string; readonly data: any }[] = []
  let [text, rest, isEnded] = ['', '', false]
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    text += chunk
    const blocks = `${rest}${chunk}`.split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s)))
      if (fields.event) events.push({ event: fields.event, id: fields.id, data: JSON.parse(fields.data) })
    }
  })
  response.on('close', () => {
    isEnded = true
  })
  response.on('error', () => undefined)
  return {
    ...{ status: response.statusCode ?? 0, headers: response.headers, events, text: () => text },
    /** Whether the server ended it. */
    isEnded: () => isEnded,
    pause: () => void response.pause(),
    close: () => void sent.destroy(),
  }
}
