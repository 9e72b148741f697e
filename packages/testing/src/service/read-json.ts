/** Bodies of requests, and what their headers may announce. @module */

/** Why a body is not announced as plain JSON in UTF-8; null when it is. */
export function contentTypeFlaw(request: Request): string | null {
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json(; ?charset=utf-8)?$/i.test(type)) return 'Content-Type must be application/json'
  return contentEncodingFlaw(request)
}

/** Why the headers announce other text than UTF-8 reads; null when they do not. Any content type passes, and none. */
export function encodingFlaw(request: Request): string | null {
  if (charsetsOf(request.headers.get('content-type') ?? '').some((charset) => charset !== 'utf-8'))
    return 'Content-Type must name no charset but utf-8'
  return contentEncodingFlaw(request)
}

/** Every charset that a content type names, in lower case and without quotes. */
function charsetsOf(contentType: string): string[] {
  return contentType
    .toLowerCase()
    .split(/[;,]/)
    .map((parameter) => parameter.split('='))
    .filter(([name]) => name?.trimEnd().endsWith('charset'))
    .map(([, ...value]) => value.join('=').replaceAll('"', '').trim())
}

function contentEncodingFlaw(request: Request): string | null {
  return request.headers.has('content-encoding') ? 'Content-Encoding is not accepted; send the body as it is' : null
}

/** The value of a JSON body; undefined for what is none. */
export async function readJson(request: Request): Promise<unknown> {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(await request.arrayBuffer()))
  } catch {
    return undefined
  }
}
