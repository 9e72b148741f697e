/** Checks a posted form before its act runs. @module */
import { BadRequestError } from '@payment-integration/core'
import { FilterError } from '../filters.js'
import type { Visit } from '../viewer.js'
import { readForm } from '../web/form-body.js'
import { shownMessage } from './act-error.js'

/** Answers with a page that says why nothing was done. */
export type Rejected = (status: number, title: string, text: string) => Promise<Response>

/** A posted form, and the act that its address names; undefined: there is no such act. */
export interface PostedForm<Act> {
  readonly act: Act | undefined
  readonly request: Request
  readonly visit: Visit
  readonly rejected: Rejected
  /** Runs the act with the fields of the form; those that are missing or empty are absent. */
  run(act: Act, fields: Readonly<Record<string, string>>): Promise<Response>
}

/** Runs the act. A form without its CSRF token is answered 403, and nothing is done. */
export async function runForm<Act>({ act, request, visit, rejected, run }: PostedForm<Act>): Promise<Response> {
  if (act === undefined) return rejected(404, 'There is no such act', 'The address leads to nothing here.')
  const form = await readForm(request)
  if (!visit.isCsrfToken(form.get('csrf') ?? ''))
    return rejected(
      403,
      'Nothing was done',
      'The form is too old or not from these pages. Reload its page, then try again.',
    )
  const fields = Object.fromEntries([...form].map(([key, value]) => [key, value.trim()] as const).filter(isGiven))
  try {
    return await run(act, fields)
  } catch (error) {
    const message = shownMessage(error)
    if (message === null) throw error
    const isMistake = error instanceof FilterError || error instanceof BadRequestError
    return rejected(isMistake ? 400 : 409, 'Nothing was done', message)
  }
}

const isGiven = ([name, value]: readonly [string, string]) => name !== 'csrf' && value !== ''
