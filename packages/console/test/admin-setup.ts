/** A console where operators of each role are signed in, for tests of acts. @module */
import { createTwin, type Twin } from '@payment-integration/testing/twin'
import { expect } from 'vitest'
import { type Console, type ConsoleDeps, createConsole } from '../src/create-console.js'
import { BrowserLike, type Page } from './browser-like.js'

/** Of every operator. */
export const passphrase = 'correct horse battery'
type Role = 'viewer' | 'operator' | 'admin'
/** Where these pages are. */
export const origin = 'https://pay.example'

/** A signed-in operator. */
export interface Person {
  readonly browser: BrowserLike
  get(path: string): Promise<Page>
  /** Posts an act with the CSRF token of the session. */
  act(name: string, fields?: Readonly<Record<string, string>>): Promise<Page>
}

/** The console with its twin. */
export interface AdminSetup {
  readonly twin: Twin
  readonly pages: Console
  /** A browser without a session. */
  browser(): BrowserLike
  /** Makes an operator with a passphrase. */
  join(name: string, role: Role): Promise<void>
  signIn(name: string, role: Role): Promise<Person>
  /** The audit log, newest first: actor, action and subject. */
  audit(limit: number): Promise<string[]>
  close(): Promise<void>
}

/** Makes it. @param deps - Further parts of the console. */
export async function adminSetup(seed: number, deps: Partial<ConsoleDeps> = {}): Promise<AdminSetup> {
  const twin = await createTwin({ seed })
  let sources = 0
  // A source of its own for each request: the limits are tested in the core.
  const findSource = () => `192.0.2.${sources++ % 200}`
  const signIn = { publicUrl: origin, findSource }
  const pages = createConsole({ service: twin.service, now: twin.now, signIn, ...deps })
  const open = () => new BrowserLike(pages, origin)
  async function join(name: string, role: Role): Promise<void> {
    const { linkToken } = await twin.service.operators.create({ name, role })
    await twin.service.operatorSessions.redeemLink({ linkToken, passphrase })
  }
  return {
    twin,
    pages,
    browser: open,
    join,
    async signIn(name, role) {
      await join(name, role)
      const browser = open()
      expect((await browser.post('/console/sign-in', { name, passphrase })).status).toBe(303)
      const csrf = await browser.csrf('/console')
      return {
        browser,
        get: (path) => browser.get(`/console${path}`),
        act: (act, fields = {}) => browser.post(`/console/act/${act}`, { csrf, ...fields }),
      }
    },
    async audit(limit) {
      const records = await twin.service.store.console.audit({ limit })
      return records.map(({ actor, action, subject }) => `${actor} ${action} ${subject}`)
    },
    async close() {
      pages.close()
      await twin.close()
    },
  }
}
