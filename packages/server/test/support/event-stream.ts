/** Reads server-sent events over real HTTP. */
import { type IncomingMessage, request } from 'node:http'

export interface SeenEvent {
  readonly event: string
  readonly id: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read fields of any event.
  readonly data: any
}

export interface EventStream {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly events: readonly SeenEvent[]
  /** The whole text. */
  text(): string
  /** Whether the server ended it. */
  isEnded(): boolean
  pause(): void
  close(): void
}

/** Opens a stream; it resolves with the answer's head. */
export function openEvents(url: string, headers: Record<string, string>): Promise<EventStream> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers, agent: false }, (response) => {
      const events: SeenEvent[] = []
      const chunks: string[] = []
      let rest = ''
      let isEnded = false
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        chunks.push(chunk)
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
      const { statusCode: status = 0 } = response
      resolve({
        ...{ status, headers: response.headers, events, text: () => chunks.join(''), isEnded: () => isEnded },
        pause: () => void response.pause(),
        close: () => void sent.destroy(),
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}
