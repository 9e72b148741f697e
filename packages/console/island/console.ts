/** The script of all pages: live rows, charts, copying and keys. Pages are readable without it. @module */
import { drawCharts } from './charts.js'
import { addCopyButtons } from './copy.js'
import { takeLink } from './join.js'
import { addKeys } from './keys.js'
import { followLive } from './live.js'

addCopyButtons()
takeLink()
const charts = drawCharts()
addKeys(followLive((data) => charts?.update(data)))
