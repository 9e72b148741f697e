/** Reads JSON bodies and checks their headers. @module */

/** The error of headers that do not declare plain JSON in UTF-8; null when they do. */
export function contentTypeFlaw(request: Request): string | null {
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json(; ?charset=utf-8)?$/i.test(type)) return 'Content-Type must be application/json'
  return contentEncodingFlaw(request)
}

/** The error of headers that declare another charset than UTF-8, or null. The content type may be any or absent. */
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

/** The value of a JSON body; undefined when it is malformed. */
export async function readJson(request: Request): Promise<unknown> {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(await request.arrayBuffer()))
  } catch {
    return undefined
  }
}
