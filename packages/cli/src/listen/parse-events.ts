/** Parses server-sent events from chunks of bytes. @module */
import { ServerError } from '../errors.js'

/** One event. */
export interface StreamEvent {
  readonly event: string
  readonly id: string | null
  readonly data: string
}

/** Longest event, in characters. */
const maxCharacters = 8 * 1024 * 1024

/** Creates a parser: each call takes a chunk and returns the events that it completes. */
export function createEventParser(): (chunk: Uint8Array) => readonly StreamEvent[] {
  const decoder = new TextDecoder()
  let rest = ''
  return (chunk) => {
    const blocks = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n\n')
    rest = blocks.pop() ?? ''
    if (rest.length > maxCharacters) throw new ServerError('The server sent an event of more than 8 MB.')
    return blocks.flatMap((block) => {
      const event = parseBlock(block)
      return event === null ? [] : [event]
    })
  }
}

/** Null for a comment. */
function parseBlock(block: string): StreamEvent | null {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''))
  }
  const data = fields.get('data')
  return data === undefined ? null : { event: fields.get('event') ?? 'message', id: fields.get('id') ?? null, data }
}
