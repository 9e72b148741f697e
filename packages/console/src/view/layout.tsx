/** Renders every page in the common layout, and builds the response. @module */
import type { Assets } from '../assets.js'
import type { PageContent } from '../pages/page.js'
import type { Visit } from '../viewer.js'
import { VisitContext } from './forms.js'
import { base } from './parts.js'

interface RenderOptions {
  /** Null: nobody is signed in, so no sections are shown. */
  readonly visit: Visit | null
  readonly note?: string | null | undefined
  readonly status?: number | undefined
}

export type Render = (content: PageContent, options: RenderOptions) => Promise<Response>

export function createRender(assets: () => Promise<Assets>, frame: Frame): Render {
  return async (content, { status = 200, ...options }) => {
    const html = <Layout {...{ ...frame, ...content, ...options, assets: await assets() }} />
    const text = `<!doctype html>${await html.toString()}`
    return new Response(text, { status, headers: { 'Content-Type': 'text/html; charset=utf-8' } })
  }
}

/** The titles of sections by group. The first word of a title is the section's path; the overview has an empty path. */
export type Sections = Readonly<Record<string, readonly string[]>>

const toSectionPath = (title: string) => (title === 'Overview' ? '' : `/${title.split(' ')[0]?.toLowerCase()}`)

/** The sections of the console: live data, configuration, and operators' work. */
export const consoleSections = (has: { identity: boolean; operators: boolean; tools: boolean }): Sections => ({
  Activity: ['Overview', 'Payments', 'Deliveries', 'Endpoints', 'Chains', ...(has.identity ? ['Identity'] : [])],
  Configuration: ['Integrations', 'Accounts', 'Keys', ...(has.operators ? ['Operators'] : []), 'Settings'],
  Operations: ['Jobs', 'Audit log', 'Legacy look-up', ...(has.tools ? ['Tools'] : [])],
})

/** The parts that all pages have. */
interface Frame {
  readonly sections: Sections
  readonly environment: string
  readonly brand?: string
  readonly mountedAt?: string
}

function Layout(props: Frame & PageContent & Omit<RenderOptions, 'status'> & { readonly assets: Assets }) {
  const { title, section, visit, assets, sections, brand = 'Payment console', mountedAt = base } = props
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · ${brand}`}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={`${mountedAt}/console.css?v=${assets.style.version}`} />
        <script type="module" src={`${mountedAt}/console.js?v=${assets.script.version}`}></script>
      </head>
      <body data-live={props.live}>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header>
          <a class="brand" href={mountedAt}>
            {brand}
          </a>
          <span class="env">{props.environment}</span>
          {visit === null ? null : (
            <>
              <search class="find">
                <form method="get" action={`${mountedAt}/payments`}>
                  <input
                    type="search"
                    name="q"
                    value={props.search ?? ''}
                    aria-label="Find a payment"
                    placeholder="Hash, memo, wallet"
                    autocomplete="off"
                    spellcheck={false}
                  />
                </form>
              </search>
              <button type="button" class="menu-button" popovertarget="menu">
                Menu
              </button>
              <button type="button" id="live" class="live" hidden aria-live="polite">
                live
              </button>
              <Who visit={visit} mountedAt={mountedAt} />
            </>
          )}
        </header>
        {visit === null ? null : (
          <nav id="menu" aria-label="Sections" popover="auto">
            <button type="button" class="menu-button close" popovertarget="menu">
              Close
            </button>
            {Object.entries(sections).map(([group, titles]) => (
              <div>
                <span class="group">{group}</span>
                {titles.map((title) => {
                  const path = toSectionPath(title)
                  return (
                    <a href={`${mountedAt}${path}`} aria-current={path === section ? 'page' : undefined}>
                      {title}
                    </a>
                  )
                })}
              </div>
            ))}
          </nav>
        )}
        <main id="main">
          {props.note ? (
            <p class="note" role="status">
              {props.note}
            </p>
          ) : null}
          <VisitContext.Provider value={visit}>{props.body}</VisitContext.Provider>
        </main>
      </body>
    </html>
  )
}

function Who({ visit, mountedAt }: { visit: Visit; mountedAt: string }) {
  const { viewer, canSignOut, about, csrfToken } = visit
  return (
    <div class="who">
      <span title={about ?? `Role: ${viewer.role}`}>{viewer.name}</span>
      {canSignOut ? (
        <form method="post" action={`${mountedAt}/sign-out`}>
          <input type="hidden" name="csrf" value={csrfToken} />
          <button type="submit">Sign out</button>
        </form>
      ) : null}
    </div>
  )
}
