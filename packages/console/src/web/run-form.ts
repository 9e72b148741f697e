/** Reads a posted form, checks its CSRF token, and chooses the errors to show. @module */
import { CoreError, StoreError } from '@payment-integration/core'
import { InvalidParameterError, RequestBodyError, readRequestBody } from '@payment-integration/core/internal'
import { ConsoleError, FilterError } from '../filters.js'
import type { Visit } from '../viewer.js'

/** An act is impossible now. Answer 409 with the message, which is for people. */
export class ActError extends ConsoleError {
  override readonly name = 'ActError'
  readonly code = 'ERR_CONSOLE_ACT'
  readonly retryable = true
}

/** The message of an error that people may read; null for others, which may name the address of a database or node. */
export function findShownMessage(error: unknown): string | null {
  const isCore = error instanceof CoreError && !(error instanceof StoreError)
  return isCore || error instanceof ConsoleError ? error.message : null
}

const maxFormBytes = 65_536

/**
 * Reads the fields of a posted form. A repeated field keeps its first value.
 * @throws FilterError For another content type, a body of more than 64 KB, and a body that broke off.
 */
export async function parseForm(request: Request): Promise<ReadonlyMap<string, string>> {
  const [type = ''] = (request.headers.get('content-type') ?? '').split(';')
  if (type.trim().toLowerCase() !== 'application/x-www-form-urlencoded')
    throw new FilterError('The body is not a form.')
  const bytes = await readRequestBody(request, maxFormBytes).catch((error: unknown) => {
    throw error instanceof RequestBodyError ? new FilterError(`${error.message}.`) : error
  })
  const fields = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(Buffer.from(bytes).toString('utf8')))
    if (!fields.has(name)) fields.set(name, value)
  return fields
}

/** The fields of a form that are not empty. */
export type Fields = Readonly<Record<string, string>>

interface PostedForm<Act> {
  readonly acts: Readonly<Record<string, Act>>
  readonly name: string
  readonly request: Request
  readonly visit: Visit
  readonly rejected: (status: number, title: string, text: string) => Promise<Response>
}

/** Runs the act. A form without its CSRF token is answered 403, and nothing is done. */
export async function runForm<Act>(
  { acts, name, request, visit, rejected }: PostedForm<Act>,
  run: (act: Act, fields: Fields) => Promise<Response>,
): Promise<Response> {
  const act = Object.hasOwn(acts, name) ? acts[name] : undefined
  if (act === undefined) return rejected(404, 'There is no such act', 'The address leads to nothing here.')
  const form = await parseForm(request)
  if (!visit.isCsrfToken(form.get('csrf') ?? ''))
    return rejected(
      403,
      'Nothing was done',
      'The form is too old or not from these pages. Reload its page, then try again.',
    )
  const trimmed = [...form].map(([key, value]) => [key, value.trim()] as const)
  const fields = Object.fromEntries(trimmed.filter(([key, value]) => key !== 'csrf' && value !== ''))
  try {
    return await run(act, fields)
  } catch (error) {
    const message = findShownMessage(error)
    if (message === null) throw error
    const isMistake = error instanceof FilterError || error instanceof InvalidParameterError
    return rejected(isMistake ? 400 : 409, 'Nothing was done', message)
  }
}
