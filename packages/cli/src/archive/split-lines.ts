/** Splits the content of frames into lines, which may begin in one frame and end in another. @module */
import { maxLineBytes } from './format-lines.js'

const lineFeed = 0x0a

/** Lines of the content so far. */
export interface LineSplitter {
  /**
   * The lines that end in this content, which follows the earlier.
   * @throws TypeError when a line is not UTF-8.
   * @throws RangeError when a line is too long.
   */
  split(content: Uint8Array): string[]
  /** Whether the last line has no end yet. */
  isInLine(): boolean
}

/** Begins with the first line. */
export function createLineSplitter(): LineSplitter {
  // By default it would replace bytes that are no UTF-8, and drop a byte order mark.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let begun: Uint8Array[] = []
  let begunBytes = 0
  return {
    split(content) {
      const end = content.lastIndexOf(lineFeed) + 1
      const lines = end === 0 ? [] : decoder.decode(Buffer.concat([...begun, content.subarray(0, end)])).split('\n')
      lines.pop()
      if (end > 0) {
        begun = []
        begunBytes = 0
      }
      if (end < content.length) begun.push(content.subarray(end))
      begunBytes += content.length - end
      if (begunBytes > maxLineBytes) throw new RangeError(`a line has more than ${maxLineBytes} bytes`)
      return lines
    },
    isInLine: () => begun.length > 0,
  }
}
