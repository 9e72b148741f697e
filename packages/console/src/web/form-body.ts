/** Reads the body of a form. @module */
import { RequestBodyError, readRequestBody } from '@payment-integration/core'

/** The largest body of a form, in bytes. */
const maxFormBytes = 65_536

/** The body of a request is no whole form. Answer 400; nothing was done. */
export class FormError extends Error {
  override readonly name = 'FormError'
}

/**
 * The fields of a posted form. A field that is given twice keeps its first value.
 * @throws FormError For another content type, more than 64 KB, and a body that broke off.
 */
export async function readForm(request: Request): Promise<ReadonlyMap<string, string>> {
  const [type = ''] = (request.headers.get('content-type') ?? '').split(';')
  if (type.trim().toLowerCase() !== 'application/x-www-form-urlencoded') throw new FormError('The request is no form.')
  const bytes = await readRequestBody(request, maxFormBytes).catch((error: unknown) => {
    throw error instanceof RequestBodyError ? new FormError(`${error.message}.`) : error
  })
  const fields = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(Buffer.from(bytes).toString('utf8')))
    if (!fields.has(name)) fields.set(name, value)
  return fields
}
