/** The default theme with the site's colors and its own page for an address that leads nowhere. @module */
import theme from 'vitepress/theme'
import { h } from 'vue'
import './site.css'

const links = [
  ['Start', '/start.html'],
  ['Receive webhooks', '/packages/webhook/'],
  ['Error codes', '/errors.html'],
  ['All pages', '/documentation.html'],
] as const

const NotFound = () =>
  h('main', { class: 'not-found vp-doc' }, [
    h('h1', 'This page does not exist'),
    h('p', 'It may have moved: the search above knows every page. Or go to'),
    h(
      'ul',
      links.map(([text, href]) => h('li', h('a', { href }, text))),
    ),
  ])

export default { extends: theme, Layout: () => h(theme.Layout, null, { 'not-found': NotFound }) }
