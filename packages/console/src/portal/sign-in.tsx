/** Signs integrations in and out. Source: docs/decisions/operators.md. @module */
import { isIPv6 } from 'node:net'
import type { IntegrationSessions } from '@payment-integration/core/internal'
import { integrationActor } from '@payment-integration/core/internal'
import type { Clock } from '@payment-integration/core/ports'
import type { PageContent } from '../pages/page.js'
import type { Render } from '../view/layout.js'
import { Problem } from '../view/parts.js'
import { shortenHex } from '../view/text.js'
import { createVisit, type Visit } from '../viewer.js'
import type { ConsoleBindings } from '../web/guard.js'
import { createSessionCookie, createSignInPages } from '../web/sessions.js'
import { findPortalNote, portalBase } from './page.js'

interface PortalSignInDeps {
  readonly sessions: IntegrationSessions
  readonly render: Render
  readonly findSource: (request: Request, bindings: ConsoleBindings) => string
  readonly clock: Pick<Clock, 'now'>
  readonly countCall: ((integrationAddress: string) => number) | undefined
}

export interface PortalVisit {
  readonly visit: Visit
  readonly integrationAddress: string
}

const cookie = createSessionCookie('pi_portal')

export function createPortalSignIn({ countCall, ...deps }: PortalSignInDeps) {
  const { sessions } = deps
  const portal = { mountedAt: portalBase, cookie, buildPage: signInPage, findNote: findPortalNote }
  const pages = createSignInPages({ ...deps, ...portal }, (form, source) =>
    sessions.signIn({ address: form.get('address') ?? '', apiSecret: form.get('secret') ?? '', source, countCall }),
  )
  return {
    async findVisit(request: Request): Promise<PortalVisit | null> {
      const token = cookie.read(request.headers)
      const session = token === null ? null : await sessions.authenticate(token)
      if (token === null || session === null) return null
      const { integrationAddress } = session
      const viewer = { name: shortenHex(integrationAddress), role: 'viewer' } as const
      const shown = { viewer, actor: integrationActor(integrationAddress), about: integrationAddress }
      return { visit: createVisit(sessions, { ...shown, secret: token, canSignOut: true }), integrationAddress }
    },
    answer: pages.answer,
    redirect: pages.redirect,
  }
}

function signInPage(next: string, problem: string | null): PageContent {
  const body = (
    <section class="sign-in">
      <h1>Sign in</h1>
      <Problem text={problem} />
      <form method="post" action={`${portalBase}/sign-in`}>
        <input type="hidden" name="next" value={next} />
        <label for="address">Integration address</label>
        <input id="address" name="address" autocomplete="username" placeholder="0x…" spellcheck={false} required />
        <label for="secret">API secret</label>
        <input id="secret" name="secret" type="password" autocomplete="current-password" required />
        <button type="submit">Sign in</button>
      </form>
      <p class="dim">
        Your server sends the same two to the API, as user and password. They begin with <code>0x</code> and{' '}
        <code>pi_api_</code>. A session lasts 12 hours.
      </p>
    </section>
  )
  return { title: 'Sign in', section: '-', body }
}

/** The peer's address; of an IPv6 address, its first 64 bits. All requests without a socket count as one source. */
export function findSocketSource(_request: Request, { incoming }: ConsoleBindings): string {
  const [address = ''] = (incoming?.socket.remoteAddress ?? 'unknown').split('%', 1)
  const mapped = /^::ffff:(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  return isIPv6(address) ? parseNetwork(address) : address
}

/** The first four groups of an IPv6 address, including zeros that `::` stands for. */
function parseNetwork(address: string): string {
  const zeros = '0:'.repeat(9 - address.split(':').length)
  const groups = address.toLowerCase().replace('::', `:${zeros}`).split(':').slice(0, 4)
  return `${groups.map((group) => group.replace(/^0+(?=.)/, '') || '0').join(':')}::/64`
}
