/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The frame of every page. @module */
import type { Child } from 'hono/jsx'
import type { Viewer } from '../viewer.js'
import { base } from './parts.js'

const sections = [
  ['', 'Overview'],
  ['/payments', 'Payments'],
  ['/deliveries', 'Deliveries'],
  ['/endpoints', 'Endpoints'],
  ['/chains', 'Chains'],
  ['/integrations', 'Integrations'],
  ['/audit', 'Audit log'],
  ['/settings', 'Settings'],
] as const

/** What the frame shows. */
export interface Frame {
  readonly title: string
  /** Path below the base of the section that is marked. */
  readonly section: string
  readonly viewer: Viewer
  /** Versions of the script and the style, which are in their addresses. */
  readonly versions: { readonly script: string; readonly style: string }
  /** The live topic of the page, as a query; null: the page does not change by itself. */
  readonly live?: string | null | undefined
  /** The word for where this service runs. */
  readonly environment: string
}

/** A whole page. */
export function Layout(props: Frame & { children?: Child }) {
  const { title, section, viewer, versions, live = null } = props
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · Payment console`}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={`${base}/console.css?v=${versions.style}`} />
        <script type="module" src={`${base}/console.js?v=${versions.script}`}></script>
      </head>
      <body data-live={live ?? undefined}>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header>
          <a class="brand" href={base}>
            Payment console
          </a>
          <span class="env">{props.environment}</span>
          <nav aria-label="Sections">
            {sections.map(([path, name]) => (
              <a href={`${base}${path}`} aria-current={path === section ? 'page' : undefined}>
                {name}
              </a>
            ))}
          </nav>
          <button type="button" id="live" class="live" hidden aria-live="polite">
            live
          </button>
          <span class="who" title={`Role: ${viewer.role}`}>
            {viewer.name}
          </span>
        </header>
        <main id="main">{props.children}</main>
      </body>
    </html>
  )
}
