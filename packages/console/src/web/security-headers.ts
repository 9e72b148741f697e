/** The headers of every page. @module */

const securityHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const

/** Adds them; `Cache-Control` stays where the response has one, as versioned files do. */
export function secured(response: Response): Response {
  const answer = new Response(response.body, response)
  for (const [name, value] of Object.entries(securityHeaders))
    if (!(name === 'Cache-Control' && answer.headers.has(name))) answer.headers.set(name, value)
  return answer
}
