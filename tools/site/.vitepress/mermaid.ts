/** Draws Mermaid blocks as SVG when the site is built, so that a browser loads no library for them. @module */
import { renderMermaidSVG } from 'beautiful-mermaid'

/** A figure that follows the colors of the theme. */
export function renderFigure(source: string): string {
  const svg = renderMermaidSVG(source, { bg: 'var(--vp-c-bg)', fg: 'var(--vp-c-text-1)', muted: 'var(--vp-c-text-2)' })
    // The site has the font already, and asks no other host.
    .replace(/@import url\([^)]*\);/, '')
    .replaceAll(/font-family: 'Inter'/g, 'font-family: var(--vp-font-family-base)')
  const label = escapeHtml(source.replaceAll(/\s+/g, ' ').trim())
  return `<div class="figure" tabindex="0" role="img" aria-label="${label}" v-html="${escapeHtml(JSON.stringify(svg))}"></div>`
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
