/** Bodies of requests. @module */

/** Whether a request says that its body is JSON. */
export function isJson(request: Request): boolean {
  return /^application\/json(?:\s*;|$)/i.test(request.headers.get('content-type') ?? '')
}

/** The value of a JSON body; undefined for what is none. */
export async function readJson(request: Request): Promise<unknown> {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(await request.arrayBuffer()))
  } catch {
    return undefined
  }
}
