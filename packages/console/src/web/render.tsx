/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Renders pages into responses. @module */
import type { Assets } from '../assets.js'
import type { PageContent } from '../page-types.js'
import { type Frame, Layout } from '../view/layout.js'
import type { Visit } from '../viewer.js'

/** Circumstances of a page, beside its content. */
export interface RenderOptions {
  readonly visit: Visit | null
  readonly note?: string | null | undefined
  readonly status?: number | undefined
}

/** Renders a page. */
export type Render = (content: PageContent, options: RenderOptions) => Promise<Response>

/** Builds it for one set of pages. */
export function createRender(
  assets: () => Promise<Assets>,
  frame: Pick<Frame, 'sections' | 'environment' | 'brand' | 'mountedAt'>,
): Render {
  return async (content, { visit, note, status = 200 }) => {
    const { script, style } = await assets()
    const html = (
      <Layout
        {...frame}
        title={content.title}
        section={content.section}
        live={content.live}
        visit={visit}
        note={note}
        versions={{ script: script.version, style: style.version }}
      >
        {content.body}
      </Layout>
    )
    const text = `<!doctype html>${await html.toString()}`
    return new Response(text, { status, headers: { 'Content-Type': 'text/html; charset=utf-8' } })
  }
}
