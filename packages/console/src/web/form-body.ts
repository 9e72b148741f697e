/** Reads the body of a form. @module */

/** The largest body of a form, in bytes. */
const mostBytes = 65_536

/** The fields of a posted form; null: no form, or too large. A field that is given twice keeps its first value. */
export async function readForm(request: Request): Promise<ReadonlyMap<string, string> | null> {
  const [type = ''] = (request.headers.get('content-type') ?? '').split(';')
  if (type.trim().toLowerCase() !== 'application/x-www-form-urlencoded') return null
  const text = await readText(request)
  if (text === null) return null
  const fields = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(text)) if (!fields.has(name)) fields.set(name, value)
  return fields
}

async function readText(request: Request): Promise<string | null> {
  const reader = request.body?.getReader()
  const parts: Uint8Array[] = []
  let bytes = 0
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    bytes += part.value.byteLength
    if (bytes > mostBytes) {
      await reader?.cancel()
      return null
    }
    parts.push(part.value)
  }
  return Buffer.concat(parts).toString('utf8')
}
