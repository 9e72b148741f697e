/** A console where operators of each role are signed in, for tests of acts. @module */
import { beforeAll, expect } from 'vitest'
import type { ConsoleDeps } from '../src/create-console.js'
import { BrowserLike, type Page } from './browser-like.js'
import { setUpConsole } from './console-setup.js'

/** Of every operator. */
export const passphrase = 'correct horse battery'
/** Where these pages are. */
export const origin = 'https://pay.example'
type Role = 'viewer' | 'operator' | 'admin'

/** A signed-in operator. */
export interface Person {
  readonly browser: BrowserLike
  get(path: string): Promise<Page>
  /** Posts an act with the CSRF token of the session. */
  act(name: string, fields?: Readonly<Record<string, string>>): Promise<Page>
}

/** The console with its twin. */
export interface AdminSetup extends Pick<ReturnType<typeof setUpConsole>, 'twin' | 'pages'> {
  /** A browser without a session. */
  browser(): BrowserLike
  /** Makes an operator with a passphrase. */
  join(name: string, role: Role): Promise<void>
  signIn(name: string, role: Role): Promise<Person>
  /** The audit log, newest first: actor, action and subject. */
  audit(limit: number): Promise<string[]>
}

type Fill = (own: AdminSetup) => Promise<unknown>

/** Opens the console before the tests of a file, and closes it after them. @param fill - Runs before the tests. */
export function setUpAdmin(seed: number, fill: Fill, deps: Partial<ConsoleDeps> = {}): AdminSetup {
  let sources = 0
  // A source of its own for each request: the limits are tested in the core.
  const findSource = () => `192.0.2.${sources++ % 200}`
  const setup = setUpConsole(seed, async () => undefined, { signIn: { publicUrl: origin, findSource }, ...deps })
  const browser = () => new BrowserLike(setup.pages, origin)
  async function join(name: string, role: Role): Promise<void> {
    const { operators, operatorSessions } = setup.twin.service
    const { linkToken } = await operators.create({ name, role })
    await operatorSessions.redeemLink({ linkToken, passphrase })
  }
  const adminSetup: AdminSetup = {
    get twin() {
      return setup.twin
    },
    get pages() {
      return setup.pages
    },
    browser,
    join,
    async signIn(name, role) {
      await join(name, role)
      const opened = browser()
      expect((await opened.post('/console/sign-in', { name, passphrase })).status).toBe(303)
      const csrf = await opened.csrf('/console')
      return {
        browser: opened,
        get: (path) => opened.get(`/console${path}`),
        act: (act, fields = {}) => opened.post(`/console/act/${act}`, { csrf, ...fields }),
      }
    },
    async audit(limit) {
      const records = await setup.twin.service.store.console.audit({ limit })
      return records.map(({ actor, action, subject }) => `${actor} ${action} ${subject}`)
    },
  }
  beforeAll(() => fill(adminSetup))
  return adminSetup
}
