/** A browser's part in requests: cookies, redirects and forms. @module */
import { setImmediate } from 'node:timers/promises'
import type { Console } from '../src/create-console.js'

/** An answer with its text. */
export interface Page {
  readonly status: number
  readonly text: string
  readonly headers: Headers
  /** Path of the redirect; null: there is none. */
  readonly location: string | null
}

/** Visits pages of one origin, and keeps their cookies. */
export class BrowserLike {
  readonly cookies = new Map<string, string>()
  readonly origin: string
  readonly #pages: Pick<Console, 'fetch'>

  constructor(pages: Pick<Console, 'fetch'>, origin: string) {
    this.#pages = pages
    this.origin = origin
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<Page> {
    return this.#send(new Request(`${this.origin}${path}`, { headers: { ...this.#cookieHeader(), ...headers } }))
  }

  /** Posts a form. A header that is null is left out. */
  async post(path: string, fields: Record<string, string>, headers: Record<string, string | null> = {}): Promise<Page> {
    const all = { ...this.#cookieHeader(), Origin: this.origin, ...headers }
    const sent = Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
    const body = new URLSearchParams(fields)
    return this.#send(new Request(`${this.origin}${path}`, { method: 'POST', body, headers: Object.fromEntries(sent) }))
  }

  /** The CSRF token of a page. */
  async csrf(path: string): Promise<string> {
    const { text } = await this.get(path)
    const [, token] = /name="csrf" value="([^"]+)"/.exec(text) ?? []
    if (token === undefined) throw new Error(`${path} has no form with a CSRF token.`)
    return token
  }

  #cookieHeader(): Record<string, string> {
    return this.cookies.size === 0
      ? {}
      : { Cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ') }
  }

  async #send(request: Request): Promise<Page> {
    request.headers.set('Host', new URL(this.origin).host)
    const answer = await this.#pages.fetch(request)
    for (const set of answer.headers.getSetCookie()) {
      const [pair = ''] = set.split(';')
      const [name = '', value = ''] = pair.split('=', 2)
      if (/Max-Age=0/.test(set)) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    const { status, headers } = answer
    return { status, headers, text: await answer.text(), location: headers.get('location') }
  }
}

/** Reads the page of a job until the job has ended; resolves the page. */
export async function endedJob(browser: BrowserLike, path: string | null): Promise<string> {
  for (;;) {
    const { status, text } = await browser.get(path ?? '')
    if (status !== 200) throw new Error(`The job's page was answered ${status}.`)
    if (!text.includes('<progress')) return text
    await setImmediate()
  }
}
