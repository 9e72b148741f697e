/** Names what stands where a body belongs, without its content, for `ERR_BODY_NOT_RAW`. @module */

/** Reads on from "The body is". */
export function kindOfBody(body: unknown): string {
  if (body === undefined || body === null) return `${body} (nothing collected it)`
  if (Array.isArray(body)) return 'an array'
  if (typeof body !== 'object') return `a ${typeof body}`
  if (ArrayBuffer.isView(body)) return 'bytes already, and not a stream of them'
  if ('arrayBuffer' in body) return 'a Request, which verify(request) reads by itself'
  if ('pipe' in body || 'getReader' in body) return 'a stream that nothing collected'
  return 'an object, so something parsed it'
}
