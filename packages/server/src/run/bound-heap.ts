/** How far the heap grows before it is collected, in a process of ours. @module */
import v8 from 'node:v8'

/**
 * To twice of what lived at the last full collection. V8's own rule is up to four times: catching up then takes 50 MiB
 * more, all of it garbage. The price is more frequent collections: catching up takes about a tenth longer where both
 * cores are busy.
 */
const growthPercent = 100

/**
 * Tells V8 for the whole process. It asks at the end of each full collection, so that this counts from the next one on.
 */
export function boundHeap(): void {
  v8.setFlagsFromString(`--heap-growing-percent=${growthPercent}`)
}
