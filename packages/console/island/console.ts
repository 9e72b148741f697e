/** The script of all pages: live rows, charts, copying and keys. Pages are readable without it. @module */
import { drawCharts } from './charts.js'
import { addCopyButtons, addZoneButton } from './content.js'
import { addKeys } from './keys.js'
import { followLive } from './live.js'

addCopyButtons()
takeLink()
const charts = drawCharts()
addZoneButton(() => charts?.redraw())
addKeys(followLive((data) => charts?.update(data)))

/** Moves the token of a one-time link from the address to its field, so that the history does not keep the token. */
function takeLink(): void {
  const field = document.querySelector<HTMLInputElement>('input[data-link]')
  const token = location.hash.slice(1)
  if (field === null || token === '') return
  field.value = token
  history.replaceState(null, '', location.pathname)
  document.querySelector<HTMLInputElement>('#passphrase')?.focus()
}
