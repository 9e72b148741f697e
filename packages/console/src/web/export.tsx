/** Downloads of a filtered list: the links on its page, and the answers to them. @module */
import type { ExportFormat, ExportRows, Listing } from '@payment-integration/core/internal'
import type { Clock } from '@payment-integration/core/ports'
import { parseQuery, type QueryFields } from '../filters.js'
import { findStreamProblem } from './guard.js'

const formats = { csv: ['CSV', 'text/csv'], jsonl: ['JSON lines', 'application/jsonl'] } as const

/** The pattern of a route, with the parameter `file`. */
export const exportRoute = ':file{(payments|deliveries)\\.(csv|jsonl)}'

/** Links that download the whole filtered list. @param props.toHref - Builds the URL for an ending such as `.csv`. */
export const ExportLinks = ({ toHref }: { toHref: (ending: string) => string }) => (
  <p class="exports">
    Export
    {Object.entries(formats).map(([format, [label]]) => (
      <a href={toHref(`.${format}`)}>{label}</a>
    ))}
  </p>
)

/** The most exports that one person may run at once: each reads the database as fast as its client takes the rows. */
const maxAtOnce = 2

interface Download extends Pick<Parameters<ExportRows>[1], 'mayContinue'> {
  readonly request: Request
  readonly file: string
  readonly actor: string
  readonly lists: Readonly<Record<Listing['list'], (query: QueryFields) => Listing>>
  readonly exportRows: ExportRows
}

/** Creates the handler of downloads. A failed or stopped download breaks off: a partial file never looks complete. */
export function createDownloads({ clock, onError }: { clock: Pick<Clock, 'now'>; onError: (error: unknown) => void }) {
  const running: string[] = []

  /** Encodes the parts, and counts the export as running until its end. */
  async function* runExport(actor: string, parts: ReturnType<ExportRows>) {
    running.push(actor)
    try {
      for await (const { text } of parts) yield new TextEncoder().encode(text)
    } finally {
      running.splice(running.indexOf(actor), 1)
    }
  }

  return async ({ request, file, actor, lists, exportRows, mayContinue }: Download): Promise<Response> => {
    const problem = findStreamProblem(request)
    if (problem !== null) return new Response(`${problem}\n`, { status: 403 })
    if (request.method === 'HEAD') return new Response(null)
    if (running.filter((each) => each === actor).length >= maxAtOnce)
      return new Response(`You have ${maxAtOnce} exports running. Wait until one of them ends.\n`, { status: 503 })
    const [name, format] = file.split('.') as [Listing['list'], ExportFormat]
    const query = parseQuery(new URL(request.url))
    const parts = runExport(actor, exportRows(lists[name](query), { format, mayContinue }))
    // A failure at the beginning is answered as on any page.
    let first: IteratorResult<Uint8Array, void> | null = await parts.next()
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          let part = first ?? (await parts.next())
          first = null
          while (part.done !== true && part.value.length === 0) part = await parts.next()
          // The client went away during the read: a closed stream takes no row.
          if (controller.desiredSize === 0) return
          if (part.done === true) controller.close()
          else controller.enqueue(part.value)
        } catch (error) {
          onError(error)
          controller.error(new Error('The export ended early.'))
        }
      },
      cancel: () => parts.return().then(() => undefined, onError),
    })
    const time = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(':', '')
    return new Response(body, {
      headers: {
        'Content-Type': `${formats[format][1]}; charset=utf-8`,
        'Content-Disposition': `attachment; filename="${name}-${time}Z.${format}"`,
      },
    })
  }
}
