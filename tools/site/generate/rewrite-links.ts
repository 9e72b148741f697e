/** Rewrites the links of a Markdown file from paths of the repository to paths of the site. @module */
import { posix } from 'node:path'
import { mapProse } from './markdown.js'

/** The pages and files that links may lead to. */
export interface LinkTargets {
  /** Pages by the path of their file. */
  readonly routes: ReadonlyMap<string, string>
  readonly files: ReadonlySet<string>
  /** Called with each linked file that is no page. The file becomes a download. */
  readonly onFile: (path: string) => void
}

const link = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)/g
const external = /^(?:[a-z][a-z0-9+.-]*:|\/|#)/i

/** The text with its links rewritten; code blocks stay as they are. @param path - The file, from the root. */
export function rewriteLinks(text: string, path: string, targets: LinkTargets): string {
  return mapProse(text, (part) => part.replace(link, (whole, ...found) => rewrite(whole, found)))

  function rewrite(whole: string, [mark, label, href]: string[]): string {
    if (mark === undefined || label === undefined || href === undefined || external.test(href)) return whole
    const inner = label.replace(link, (image, ...found) => rewrite(image, found))
    const target = getAddress(href, path, targets)
    return target === null ? inner : `${mark}[${inner}](${target})`
  }
}

/** The address of a link on the site; null when it leads to nothing that the site has. */
function getAddress(href: string, path: string, { routes, files, onFile }: LinkTargets): string | null {
  const [file = '', anchor] = href.split('#')
  const target = posix.join(posix.dirname(path), decodeURIComponent(file)).replace(/\/$/, '')
  const page = routes.get(target) ?? routes.get(`${target}/README.md`)
  if (page !== undefined) return `/${page}.md${anchor === undefined ? '' : `#${anchor}`}`
  if (!files.has(target)) return null
  onFile(target)
  return `/${getDownload(target)}`
}

/** The path of a download: browsers show sources as text. */
export function getDownload(path: string): string {
  return `files/${path}${/[.](png|svg|json|yaml|yml|txt|pdf)$/.test(path) ? '' : '.txt'}`
}
