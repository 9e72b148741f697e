/** The script of all pages: live rows, charts, copying and keys. Pages are readable without it. @module */
import { drawCharts } from './charts.js'
import { addCopyButtons } from './content.js'
import { addKeys } from './keys.js'
import { followLive } from './live.js'

//  The script of all pages: live rows, charts, copying and keys. Pages are readable without it.

addCopyButtons()
takeLink()
const charts = drawCharts()
addKeys(followLive((data) => charts?.update(data)))

/** Puts it into its field. */
function takeLink(): void {
  const field = document.querySelector<HTMLInputElement>('input[data-link]')
  const token = location.hash.slice(1)
  if (field === null || token === '') return
  field.value = token
  history.replaceState(null, '', location.pathname)
  document.querySelector<HTMLInputElement>('#passphrase')?.focus()
}
